"""Killed where the work is checked: another process goes on, and no check runs twice."""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.crash.journey import CRASHING, wait_until
from tests.log_checker import read_logs
from tests.model_server import Answer, History, by_history, model_server_thread, proposes, says, write
from tests.workflow.project import RIGHT, WRONG, Project

COUNTED = "from a import one\n\n\ndef test_one():\n    open('runs', 'a').write('ran\\n')\n    assert one() == 1\n"
WAITING = "import time, os\n\n\ndef test_one():\n    open('begun', 'w')\n    time.sleep(600)\n"
CUT_OFF = "workflow: warning: could not check the changes with `pytest -q`: it was interrupted and may have run"
FIRST = ["model: write a.py → finished", "model: done"]
FAILED = ["workflow: bash pytest -q → failed", "workflow: `pytest -q` failed. Please fix this and run it again."]
SECOND = ["model: write a.py → finished", "model: done"]
PASSED = ["workflow: bash pytest -q → finished", "workflow: `pytest -q` passed"]
WHOLE = [*FIRST, *FAILED, *SECOND, *PASSED]

Open = Callable[[str], Project]


def job(history: History) -> Answer:
    """Wrong at first; right after it was told so."""
    said = sum(1 for each in history if each.role == "assistant")
    return says("done") if said % 2 else proposes(write("a.py", RIGHT if said else WRONG))


@pytest.fixture
def opened(tmp_path: Path) -> Generator[Open]:
    with ExitStack() as stack:

        def open_project(test: str) -> Project:
            server = stack.enter_context(model_server_thread(by_history(job)))
            return Project(tmp_path, server, {"pyproject.toml": "", "test_a.py": test})

        yield open_project


def resume(project: Project) -> None:
    (session,) = read_logs(project.coder.home / "sessions.db")
    assert project.coder.run("resume", session).code == 0
    assert project.server.violations == []


@pytest.mark.parametrize(
    ("arrow", "story", "runs"),
    [
        ("before:message.added:2", WHOLE, 2),
        ("after:message.added:2", WHOLE, 2),
        ("before:message.added:3", WHOLE, 2),
        ("after:message.added:3", [*FIRST, "workflow: bash pytest -q → unknown", CUT_OFF], 0),
        ("before:tool.ran:2", [*FIRST, "workflow: bash pytest -q → unknown", CUT_OFF], 0),
        ("after:tool.ran:2", [*FIRST, "workflow: bash pytest -q → unknown", CUT_OFF], 1),
        ("after:call.ended:2", WHOLE, 2),
        ("after:message.added:4", WHOLE, 2),
        ("before:tool.ran:4", [*FIRST, *FAILED, *SECOND, "workflow: bash pytest -q → unknown", CUT_OFF], 1),
        ("after:call.ended:4", WHOLE, 2),
        ("before:turn.ended:1", WHOLE, 2),
    ],
)
def test_c42_killed_anywhere_no_check_runs_twice(opened: Open, arrow: str, story: list[str], runs: int) -> None:
    project = opened(COUNTED)
    project.configure()
    started = project.coder.fork(CRASHING, "-p", "make it", "--mode", "yolo", env={"CODER_CRASH": arrow})
    assert started.wait().code == -9
    resume(project)
    assert project.story() == story
    path = project.folder / "runs"
    assert len(path.read_text().split() if path.exists() else []) == runs


def test_c42_killed_while_the_check_runs(opened: Open) -> None:
    project = opened(WAITING)
    project.configure()
    started = project.coder.start("-p", "make it", "--mode", "yolo")
    begun = project.folder / "begun"
    assert wait_until(begun.exists, else_return=lambda: ["never"]) == []
    begun.unlink()
    started.kill()
    resume(project)
    assert project.story() == [*FIRST, "workflow: bash pytest -q → unknown", CUT_OFF]
    assert not begun.exists()
