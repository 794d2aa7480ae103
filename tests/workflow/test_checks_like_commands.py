"""A check is a command of the agent like any other: asked about, confined, undone, stopped."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from coderelay.app import App
from coderelay.client.ask_view import full_text
from coderelay.config.loaded_config import Config
from coderelay.protocol.asks import Deny, PermissionAsk
from coderelay.protocol.commands import Undone, UndoTurn
from coderelay.protocol.session_setting_values import Mode
from coderelay.workspace.sandbox.backend_detection import sandbox_backend
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.crash.journey import wait_until
from tests.house import ME, house, story
from tests.model_server import proposes, says, script, write
from tests.tools.toolbox_scene import contents, lay_out
from tests.workflow.project import PYTHON, RIGHT, Project

VERIFIED = "workflow: `pytest -q` passed"
LEAVES_A_FILE = {
    "pyproject.toml": "",
    "test_a.py": "def test_it():\n    open('left.txt', 'w').write('by the test')\n",
}


class WithPytest(App):
    """Programs are found where this test finds them."""

    def __init__(self, config: Config, env: Mapping[str, str]) -> None:
        super().__init__(config, {**env, "PATH": f"{os.path.dirname(sys.executable)}:{env['PATH']}"})


@pytest.mark.parametrize("mode", ["auto-edit", "default"])
@story
async def test_x39_the_person_is_asked_about_a_check_as_about_any_command(tmp_path: Path, mode: Mode) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/config.json").write_text('{"permissions": {"ask": ["bash(pytest)"], "allow": ["write"]}}')
    async with house(tmp_path, script(proposes(write("a.py", RIGHT)), says("done")), build=WithPytest) as coder:
        lay_out(coder.folder, PYTHON)
        await coder.create(mode)
        await coder.prompt("make it and run the tests")
        (ask,) = await coder.asks()
        assert isinstance(ask, PermissionAsk)
        assert (ask.need.tool, ask.need.command, ask.need.title) == ("bash", "pytest -q", "pytest -q")
        await coder.answer(ask)
        await coder.ended()
        assert (await coder.story())[-2:] == ["bash: ok", VERIFIED]


@story
async def test_x39_the_ask_of_a_check_does_not_say_where_it_runs(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/config.json").write_text('{"permissions": {"ask": ["bash(pytest)"], "allow": ["write"]}}')
    answers = script(proposes(write("vendor/evil/a.py", RIGHT)), says("done"))
    async with house(tmp_path, answers, build=WithPytest) as coder:
        lay_out(coder.folder, {f"vendor/evil/{name}": text for name, text in PYTHON.items()})
        await coder.create("auto-edit")
        await coder.prompt("make it and run the tests")
        (ask,) = await coder.asks()
        assert "runs in 'vendor/evil'" in full_text(ask)
        await coder.answer(ask, Deny())
        await coder.ended()


@story
async def test_x39_a_check_that_the_person_does_not_want_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/config.json").write_text('{"permissions": {"ask": ["bash(pytest)"]}}')
    async with house(tmp_path, script(proposes(write("a.py", RIGHT)), says("done")), build=WithPytest) as coder:
        lay_out(coder.folder, PYTHON)
        await coder.create("auto-edit")
        await coder.prompt("make it")
        (ask,) = await coder.asks()
        await coder.answer(ask, Deny("not now"))
        ended = await coder.ended()
        assert (await coder.story())[-2:] == [
            "bash: denied",
            "workflow: tests not run: the command was not allowed",
        ]
        assert (ended.ending, ended.text, ended.steps) == ("done", "done", 2)


@pytest.mark.parametrize(("mode", "confined"), [("auto-edit", True), ("yolo", False)])
def test_x39_a_check_runs_in_the_sandbox_but_for_mode_yolo(
    tmp_path: Path, serve: Serve, mode: str, confined: bool
) -> None:
    if sandbox_backend(str(tmp_path / "home")) == "none":
        pytest.skip("there is no sandbox on this machine")
    escape = "import pathlib\n\n\ndef test_it():\n    pathlib.Path('../escaped').write_text('')\n"
    answers = script(proposes(write("a.py", "")), says("done"), says("it cannot be repaired"), says("really"))
    project = Project(tmp_path, serve(answers), {"pyproject.toml": "", "test_a.py": escape})
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home/config.json").write_text("{}")
    project.ask("make it", mode=mode)
    assert (tmp_path / "escaped").exists() != confined
    assert (VERIFIED in project.story()) != confined


@story
async def test_c30_undo_takes_back_what_the_check_left(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(write("a.py", RIGHT)), says("done")), build=WithPytest) as coder:
        lay_out(coder.folder, LEAVES_A_FILE)
        subprocess.run(["git", "init", "-q"], cwd=coder.folder, check=True)
        before = set(contents(coder.folder))
        await coder.create("yolo")
        await coder.prompt("make it")
        await coder.ended()
        assert (await coder.story())[-1] == VERIFIED
        undone = await coder.host.send(UndoTurn(session=coder.session, by=ME))
        assert isinstance(undone, Undone)
        assert {"a.py", "left.txt"} <= set(undone.removed)
        kept = {
            name for name in contents(coder.folder) if not name.startswith((".git/", ".coder/", ".pytest_cache/"))
        }
        assert {name for name in kept if "__pycache__" not in name} == {
            n for n in before if not n.startswith(".git/")
        }


@story
async def test_c37_a_stop_ends_the_check_and_the_turn(tmp_path: Path) -> None:
    waits = "import time\n\n\ndef test_it():\n    open('begun', 'w')\n    time.sleep(600)\n"
    async with house(tmp_path, script(proposes(write("a.py", RIGHT)), says("done")), build=WithPytest) as coder:
        lay_out(coder.folder, {"pyproject.toml": "", "test_a.py": waits})
        await coder.create("yolo")
        await coder.prompt("make it")
        begun = coder.folder / "begun"
        assert await asyncio.to_thread(wait_until, begun.exists, lambda: ["never"], 60) == []
        await coder.stop()
        ended = await coder.ended()
        assert (ended.ending, (await coder.story())[-2:]) == ("stopped", ["bash: stopped", "(stopped)"])


def test_a_turn_without_changes_loads_nothing_of_the_workflow(tmp_path: Path, serve: Serve) -> None:
    server = serve(script(says("hello")))
    folder = tmp_path / "work"
    folder.mkdir()
    coder = Coder(tmp_path / "home", folder, server.base_url)
    ran = coder.start("-p", "say hi", program=("-X", "importtime", "-m", "coderelay.cli")).wait()
    loaded = {line.rpartition("|")[2].strip() for line in ran.err.splitlines() if "coderelay" in line}
    rules = {name for name in loaded if name.startswith("coderelay.agents.native.workflow.")}
    assert rules == set()
