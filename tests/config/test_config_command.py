"""`/config`: what holds, where it comes from, and a setting of one's own."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from coderelay.client.client import AT_THE_MACHINE, Capabilities
from coderelay.protocol.commands import SetSetting
from coderelay.protocol.errors import BadInput
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.house import ME, house, story
from tests.model_server import ModelServerThread, script
from tests.plain_terminal import terminal
from tests.skills.skill_and_command_folders import put, put_config
from tests.skills.test_slash_lines import told

CoderOn = Callable[[ModelServerThread], Coder]


@pytest.fixture
def coder(serve: Serve, coder_on: CoderOn, folder: Path) -> Coder:
    coder = coder_on(serve(script()))
    put_config(coder.home, bash={"timeout_s": 60}, **{"permissions.deny": ["bash(rm *)"], "max_steps": 50})
    put_config(folder / ".coder", max_steps=20, mode="yolo", **{"permissions.deny": ["bash(dd *)"]})
    return coder


def test_every_setting_is_shown_with_where_it_comes_from(coder: Coder, folder: Path) -> None:
    own = f"{coder.home}/config.json"
    put(folder / ".mcp.json", json.dumps({"mcpServers": {"docs": {"command": "true", "env": {"API_KEY": "abc"}}}}))
    coder.run("permissions", "trust", "--yes")
    put_config(folder / ".coder", max_steps=20, mode="yolo", **{"permissions.deny": ["bash(dd *)"]})
    with terminal(coder) as screen:
        screen.wait_for("> ")
        lines = told(screen, "/config").splitlines()
        one = told(screen, "/config max_steps")
        group = told(screen, "/config compaction")
        odd = told(screen, "/config compcation")
    assert f"bash.timeout_s = 60  ({own})" in lines or f"bash.timeout_s = 60.0  ({own})" in lines
    assert f'permissions.deny = ["bash(rm *)","bash(dd *)"]  ({own}, .coder/config.json)' in lines
    assert 'mode = "yolo"  (.coder/config.json)' in lines
    assert one == f"max_steps = 20  ({own}, .coder/config.json)"
    assert group == "compaction.threshold = 0.8  (default)\ncompaction.keep = 12  (default)"
    assert odd == "there is no setting 'compcation'; /config lists all"
    (server,) = [line for line in lines if line.startswith("mcp_servers.docs")]
    assert server.endswith("(.mcp.json)")
    assert "abc" not in server
    assert not [line for line in lines if line.startswith("agents.mine")], "what does nothing yet is not shown"


def test_what_is_not_trusted_is_not_shown_as_if_it_held(coder: Coder) -> None:
    with terminal(coder) as screen:
        screen.wait_for("> ")
        assert told(screen, "/config mode") == 'mode = "default"  (default)'


def test_a_setting_is_written_to_the_persons_file_and_holds_at_once(coder: Coder, folder: Path) -> None:
    own = f"{coder.home}/config.json"
    with terminal(coder) as screen:
        screen.wait_for("> ")
        assert told(screen, "/config compaction.threshold 0.5") == f"compaction.threshold = 0.5  ({own})"
        assert told(screen, "/config bash.timeout_s 5").startswith("bash.timeout_s = 5")
        assert told(screen, "/config permissions.preset strict") == f'permissions.preset = "strict"  ({own})'
        assert told(screen, "/config max_steps unset") == "max_steps = 20  (.coder/config.json)"
        wrong = told(screen, "/config compaction.threshold high")
        assert "compaction.threshold must be a number between 0 and 1" in wrong
        assert (
            told(screen, "/config nothing.here 1")
            == "there is no setting 'nothing.here'\n/config lists all settings."
        )
        assert "coder mcp add" in told(screen, "/config mcp_servers.x {}")
        assert told(screen, "/config agents.mine.mode plan") == "agents.mine.mode is not available yet"
    written = json.loads((coder.home / "config.json").read_text())
    assert written == {
        "permissions.deny": ["bash(rm *)"],
        "compaction.threshold": 0.5,
        "bash.timeout_s": 5,
        "permissions.preset": "strict",
    }


def test_what_an_agent_runs_changes_no_setting(coder: Coder) -> None:
    before = (coder.home / "config.json").read_text()
    ran = coder.run(text="/config permissions.preset yolo\n", env={"CODER": "1"})
    assert "a command that an agent runs cannot change your settings" in ran.out
    assert (coder.home / "config.json").read_text() == before


@pytest.mark.quick
@story
async def test_only_a_connection_with_all_commands_sets_anything(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("default")
        command = SetSetting(session=coder.session, key="mode", value='"yolo"', by=ME)
        for other in (coder.host, coder.host.connect(Capabilities(shell=True))):
            with pytest.raises(BadInput, match="at the machine itself"):
                await other.send(command)
        assert not (tmp_path / "home" / "config.json").exists()
        await coder.host.connect(AT_THE_MACHINE).send(command)
        assert json.loads((tmp_path / "home" / "config.json").read_text()) == {"mode": "yolo"}
