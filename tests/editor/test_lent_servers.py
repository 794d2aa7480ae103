"""The MCP servers that a client sends, as ACP and as clients made for iFlow write them, and what is shown."""

from typing import Any

import pytest

from coderelay.client.client import LentServer
from coderelay.surfaces.editor.new_session_settings import lent_servers
from coderelay.tools.mcp.server_settings import secrets_of, where_shown

KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize(
    ("given", "server"),
    [
        (
            {"name": "a", "command": "npx", "args": ["-y", "x"], "env": [{"name": "K", "value": "v"}]},
            LentServer(command="npx", args=("-y", "x"), env={"K": "v"}),
        ),
        ({"name": "a", "command": "npx", "args": [], "env": {"K": "v"}}, LentServer(command="npx", env={"K": "v"})),
        (
            {
                "type": "http",
                "name": "a",
                "url": "https://x/mcp",
                "headers": [{"name": "Authorization", "value": "B k"}],
            },
            LentServer(url="https://x/mcp", headers={"Authorization": "B k"}),
        ),
        (
            {"type": "streamable-http", "name": "a", "httpUrl": "http://x/mcp", "headers": {"X": "k"}},
            LentServer(url="http://x/mcp", headers={"X": "k"}),
        ),
    ],
)
def test_a_server_is_read(given: dict[str, Any], server: LentServer) -> None:
    assert lent_servers([given]) == ({"a": server}, [])


@pytest.mark.parametrize(
    "given",
    [
        {"type": "sse", "name": "a", "url": "https://x/sse"},
        {"type": "http", "name": "a", "url": "file:///etc/passwd"},
        {"type": "http", "name": "a", "url": "http://x:port/mcp"},
        {"type": "http", "name": "a", "url": "http://[x/mcp"},
        {"name": "a", "command": ""},
        {"name": "a", "command": ["sh", "-c"]},
        {"name": "a"},
        {"type": "acp", "name": "a", "id": "1"},
    ],
)
def test_a_server_that_cannot_be_used_is_named(given: dict[str, Any]) -> None:
    assert lent_servers([given]) == ({}, ["a"])


def test_names_fit_the_names_of_tools_and_are_taken_once() -> None:
    found, unusable = lent_servers(
        [{"name": each, "command": "x"} for each in ("my server", "my/server", "", "b" * 99)]
    )
    assert [*found] == ["my_server", "b" * 40]
    assert unusable == ["my_server", "?"]


@pytest.mark.parametrize(
    ("server", "shown", "secrets"),
    [
        (
            LentServer(command="npx", args=("-y", "x", "--api-key", KEY, f"--token={KEY}1", "--port", "80")),
            "npx -y x --api-key … --token=… --port 80",
            [KEY, f"{KEY}1"],
        ),
        (LentServer(command="x", args=("--password", "abc")), "x --password …", []),
        (LentServer(command="x", env={"WHATEVER": KEY, "HOME": "/home/me"}), "x", [KEY]),
        (
            LentServer(url=f"https://me:{KEY}@x.example:8/mcp?key={KEY}2", headers={"A": f"Bearer {KEY}3"}),
            "https://x.example:8/mcp",
            [f"{KEY}3", KEY, f"key={KEY}2", f"{KEY}2"],
        ),
    ],
)
def test_what_may_be_secret_is_not_shown(server: LentServer, shown: str, secrets: list[str]) -> None:
    assert where_shown(server) == shown
    assert secrets_of(server) == secrets
    assert KEY not in repr(server)
