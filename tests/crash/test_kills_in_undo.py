"""Killed where a turn keeps the files as they were, and where it is undone; carried on by a new process."""

import json
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.coder_process import Coder, Ran
from tests.crash.journey import Journey
from tests.log_checker import Event, check_settled
from tests.model_server import (
    Answer,
    History,
    ModelServerThread,
    bash,
    by_history,
    model_server_thread,
    proposes,
    says,
    write,
)

Files = dict[str, str]


def changing_job(history: History) -> Answer:
    """New files, a changed one, a removed one, one that git ignores."""
    prompt = max(place for place, said in enumerate(history) if said.role == "user")
    name = history[prompt].text.split()[-1]
    if any(said.role == "assistant" for said in history[prompt:]):
        return says(f"done {name}")
    command = f"echo {name} >> changed; mkdir {name}; echo 1 > {name}/new; rm {name}-gone"
    return proposes(write(f"{name}-written", "x"), bash(command), write(f"{name}-ignored", "y"))


class UndoJourney(Journey):
    def __init__(self, coder: Coder, server: ModelServerThread) -> None:
        super().__init__(coder, server)
        self._git("init", "-q", "-b", "main")
        for name in ("changed", "first-gone", "last-gone"):
            (coder.cwd / name).write_text(f"{name} at first\n")
        (coder.cwd / ".gitignore").write_text("*-ignored\n")
        self._git("add", ".")
        self._git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "first")

    def undo(self, **env: str) -> Ran:
        return self.coder.fork("undoing", env={"HOME": str(self.coder.home)} | env).wait()

    def files(self) -> Files:
        found = [path for path in self.coder.cwd.rglob("*") if not {".git", ".coder"} & {*path.parts}]
        return {str(path.relative_to(self.coder.cwd)): path.read_text() for path in found if path.is_file()}

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.log() if event["kind"] == kind]

    def check(self) -> None:
        check_settled(self.log())
        assert self.server.violations == []
        assert self.left_over() == []

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.coder.cwd, check=True, capture_output=True)


@pytest.fixture
def journey(tmp_path: Path) -> Generator[UndoJourney]:
    (tmp_path / "work").mkdir()
    with model_server_thread(by_history(changing_job)) as server:
        yield UndoJourney(Coder(tmp_path / "home", tmp_path / "work", server.base_url), server)


def sides(*arrows: str) -> list[str]:
    return [f"{side}:{arrow}" for arrow in arrows for side in ("before", "after")]


@pytest.mark.parametrize("arrow", sides("tree.taken:1", "tree.taken:2", "call.ended:1", "turn.ended:1"))
def test_x25_c30_killed_in_a_turn_that_is_undone_later(journey: UndoJourney, arrow: str) -> None:
    before = journey.files()
    assert journey.run("-p", "do first", CODER_CRASH=arrow) == -9
    if arrow.endswith("tree.taken:1"):
        assert journey.files() == before
    journey.carry_on()
    assert journey.files() != before
    assert [journey.undo().code for _ in range(2)] == [0, 0]
    assert journey.files() == before
    assert journey.undo().out.startswith("nothing to undo")
    journey.check()


UNDO = [*sides("file.undone:1", "file.undone:3", "file.undone:5", "turn.undone:1"), "after:file.written:1"]


@pytest.mark.parametrize("arrow", UNDO)
def test_x25_c30_killed_in_an_undo_that_is_repeated(journey: UndoJourney, arrow: str) -> None:
    between = two_turns(journey)
    assert journey.undo(CODER_CRASH=arrow).code == -9
    if not journey.of("turn.undone"):
        done = journey.undo()
        assert (done.code, json.loads(done.out)["conflicts"]) == (0, [])
    assert journey.files() == between
    assert len(journey.of("turn.undone")) == 1
    journey.carry_on("third")
    told = json.dumps(journey.server.requests[-1]["messages"])
    assert ("do first" in told, "do last" in told) == (True, False)
    journey.check()


def test_x25_c30_an_undo_that_is_repeated_leaves_no_empty_folder(journey: UndoJourney) -> None:
    two_turns(journey)
    assert journey.undo(CODER_CRASH="after:file.undone:5").code == -9
    assert journey.undo().code == 0
    assert not (journey.coder.cwd / "last").exists()


def test_x25_c30_a_prompt_after_an_undo_that_was_cut_off_leaves_nothing_half_known(journey: UndoJourney) -> None:
    """The turn counts as it was, what is gone of it is gone; and undoing both ends where it began."""
    before = journey.files()
    two_turns(journey)
    assert journey.undo(CODER_CRASH="after:file.undone:2").code == -9
    (journey.coder.cwd / "third-gone").touch()
    before["third-gone"] = ""
    journey.carry_on("third")
    assert [journey.undo().code for _ in range(3)] == [0, 0, 0]
    assert journey.files() == before
    journey.check()


def test_x25_an_undo_that_is_told_before_it_is_done_is_found_out(journey: UndoJourney) -> None:
    between = two_turns(journey)
    assert journey.undo(CODER_CRASH="after:file.undone:2", CODER_MUTANT="log-first").code == -9
    assert len(journey.of("turn.undone")) == 1
    assert journey.files() != between


def two_turns(journey: UndoJourney) -> Files:
    """The files between them."""
    assert journey.run("-p", "do first") == 0
    between = journey.files()
    journey.carry_on()
    return between
