"""`.mcp.json`, in which Claude Code keeps the MCP servers of a folder, is read here too, under the same trust."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from coderelay.config.settings import McpServerConfig
from coderelay.config.trust_records_file import settings_needing_trust, trust
from tests.config.config_files import Places

SERVERS = {
    "files": {"command": "npx", "args": ["-y", "files"], "env": {"ROOT": "${HOME}"}},
    "web": {"type": "http", "url": "https://mcp.example.org/mcp", "headers": {"X-Key": "${KEY:-none}"}},
}


def write(places: Places, content: object) -> None:
    (places.folder / ".mcp.json").write_text(json.dumps(content))


def trusted(places: Places) -> dict[str, McpServerConfig]:
    trust(str(places.home), str(places.folder))
    return places.load().settings.mcp_servers


def test_x36_its_servers_count_once_the_folder_is_trusted(tmp_path: Path) -> None:
    places = Places(tmp_path)
    write(places, {"mcpServers": SERVERS})
    before = places.load()
    assert before.settings.mcp_servers == {}
    assert list(before.untrusted) == ["mcp_servers.files", "mcp_servers.web"]
    assert before.files == (str(places.folder / ".mcp.json"),)
    assert settings_needing_trust(str(places.home), str(places.folder))["mcp_servers.files"] == SERVERS["files"]
    found = trusted(places)
    assert found["files"] == McpServerConfig(command="npx", args=("-y", "files"), env={"ROOT": "${HOME}"})
    assert found["web"] == McpServerConfig(url="https://mcp.example.org/mcp", headers={"X-Key": "${KEY:-none}"})
    write(places, {"mcpServers": SERVERS | {"files": {"command": "evil"}}})
    assert places.load().settings.mcp_servers == {}, "what was changed since is not trusted"


def test_the_folders_own_file_comes_first(tmp_path: Path) -> None:
    places = Places(tmp_path).write(folder={"mcp_servers": {"files": {"command": "ours"}}})
    write(places, {"mcpServers": SERVERS})
    found = trusted(places)
    assert (found["files"].command, found["web"].url) == ("ours", "https://mcp.example.org/mcp")


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "sse", "url": "https://mcp.example.org/sse"},
        {"command": "x", "disabled": True},
        {"command": ["x"]},
        {"args": ["x"]},
        "x",
        None,
    ],
)
def test_an_entry_that_cannot_be_used_here_is_left_out(tmp_path: Path, entry: Any) -> None:
    places = Places(tmp_path)
    write(
        places, {"mcpServers": {"odd": entry, "bad name!": {"command": "x"}, "good": {"command": "x", "timeout": 5}}}
    )
    assert list(trusted(places)) == ["good"]


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": 1}', "", "[" * 5000, '{"other": {}}'])
def test_a_file_of_another_program_that_cannot_be_read_stops_nobody(tmp_path: Path, text: str) -> None:
    places = Places(tmp_path)
    (places.folder / ".mcp.json").write_text(text)
    assert trusted(places) == {}


def test_x36_no_link_leads_out_of_the_folder_and_no_pipe_holds_us_up(tmp_path: Path) -> None:
    places = Places(tmp_path)
    (tmp_path / "outside.json").write_text(json.dumps({"mcpServers": SERVERS}))
    os.symlink(tmp_path / "outside.json", places.folder / ".mcp.json")
    assert places.load().untrusted == {}
    os.unlink(places.folder / ".mcp.json")
    os.mkfifo(places.folder / ".mcp.json")
    assert places.load().untrusted == {}
