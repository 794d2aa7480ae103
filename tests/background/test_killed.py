"""Killed where a background command is started, stopped and ended: no process is left, and every command that the
log knows of ends there once."""

import json
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.background.background_commands import in_background
from tests.coder_process import Coder, Started
from tests.crash.journey import Journey, wait_until
from tests.log_checker import Event, check_background_over, check_settled
from tests.model_server import (
    Answer,
    History,
    ModelServerThread,
    bash,
    by_history,
    model_server_thread,
    proposes,
    says,
)

RUNS = ("echo $$ > pid1; exec sleep 600", "echo $$ > pid2; exec sleep 600")


def job(history: History) -> Answer:
    """Two commands in the background, one that waits to be let go, then an answer. A later prompt only gets that."""
    prompt = max(place for place, said in enumerate(history) if said.role == "user" and said.text.endswith("go"))
    step = sum(1 for said in history[prompt:] if said.role == "assistant")
    name = history[prompt].text.split()[-2]
    if name == "last" or step == 2:
        return says(f"done {name}")
    waits = "touch begun; until [ -e go ]; do sleep .01; done"
    return [proposes(*map(in_background, RUNS)), proposes(bash(waits))][step]


class BackgroundJourney(Journey):
    def __init__(self, coder: Coder, server: ModelServerThread) -> None:
        super().__init__(coder, server)
        self.folder = coder.cwd

    def let_go(self) -> None:
        (self.folder / "go").touch()

    def begin(self, **env: str) -> Started:
        """A process whose commands run, and whose turn waits."""
        started = self.start("-p", "first go", **env)
        assert wait_until((self.folder / "begun").exists, else_return=lambda: ["never"]) == []
        assert wait_until(lambda: len(self.pids()) == 2, else_return=lambda: ["no pids"]) == []
        return started

    def start_stopping(self, number: str, **env: str) -> Started:
        return self.coder.fork("stopping", number, env={"HOME": str(self.coder.home)} | env)

    def stop(self, number: str, **env: str) -> int:
        return self.start_stopping(number, **env).wait().code

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.log() if event["kind"] == kind]

    def is_asked(self) -> bool:
        return bool(self.of("background.stop_requested"))

    def ends(self) -> dict[str, str]:
        return {each["background_id"]: each["end"]["type"] for each in self.of("background.ended")}

    def pids(self) -> list[int]:
        """Of the commands that have written theirs, in their order."""
        files = [self.folder / "pid1", self.folder / "pid2"]
        return [int(pid) for file in files if file.exists() and (pid := file.read_text()).endswith("\n")]

    def finish_all(self) -> None:
        """A last process carries on, and is gone too."""
        self.let_go()
        assert self.run("-p", "last go", *self.go_on()) == 0
        check_settled(self.log())
        check_background_over(self.log())
        assert self.server.violations == []
        assert self.left_over() == []

    def told(self) -> str:
        """In the last request."""
        return json.dumps(self.server.requests[-1]["messages"])


@pytest.fixture
def journey(tmp_path: Path) -> Generator[BackgroundJourney]:
    (tmp_path / "work").mkdir()
    with model_server_thread(by_history(job)) as server:
        yield BackgroundJourney(Coder(tmp_path / "home", tmp_path / "work", server.base_url), server)


STARTING = ["tool.ran:1", "call.ended:1", "tool.ran:2", "call.ended:2", "call.started:3"]


@pytest.mark.parametrize("arrow", [f"{side}:{each}" for each in STARTING for side in ("before", "after")])
def test_d17_x25_killed_where_it_is_started(journey: BackgroundJourney, arrow: str) -> None:
    assert journey.run("-p", "first go", CODER_CRASH=arrow) == -9
    assert journey.left_over() == []
    known = [each["outcome"].get("background") for each in journey.of("call.ended")]
    journey.finish_all()
    assert journey.ends() == dict.fromkeys([each for each in known if each], "gone") | journey.ends()
    for number in filter(None, known):
        assert (
            journey.told().count(
                f"background command {number} ({RUNS[int(number) - 1]}) ended because the process that ran it ended"
            )
            == 1
        )


@pytest.mark.parametrize("arrow", ["before:background.ended:1", "after:background.ended:1"])
def test_d17_x25_killed_where_its_end_is_written(journey: BackgroundJourney, arrow: str) -> None:
    """By the process that had it, which leaves."""
    journey.let_go()
    assert journey.run("-p", "first go", CODER_CRASH=arrow) == -9
    assert journey.left_over() == []
    journey.finish_all()
    assert journey.ends() == {"1": "gone", "2": "gone"}


@pytest.mark.parametrize("side", ["before", "after"])
def test_d17_x25_whoever_stops_it_is_killed(journey: BackgroundJourney, side: str) -> None:
    owner = journey.begin()
    assert journey.stop("1", CODER_CRASH=f"{side}:background.stop_requested:1") == -9
    assert journey.stop("1") == 0
    first, second = journey.pids()
    assert (_is_alive(first), _is_alive(second)) == (False, True)
    journey.let_go()
    assert journey.finish(owner) == 0
    journey.finish_all()
    assert journey.ends() == {"1": "stopped", "2": "gone"}
    assert len(journey.of("background.stop_requested")) == 1


@pytest.mark.parametrize("side", ["before", "after"])
def test_d17_x25_the_process_that_has_it_is_killed_when_it_stops_it(journey: BackgroundJourney, side: str) -> None:
    owner = journey.begin(CODER_CRASH=f"{side}:background.ended:1")
    assert journey.stop("1") == 0
    assert journey.finish(owner) == -9
    assert journey.left_over() == []
    journey.finish_all()
    assert journey.ends() == {"1": "stopped" if side == "after" else "gone", "2": "gone"}


def test_d17_x25_one_is_stopped_whose_process_was_killed(journey: BackgroundJourney) -> None:
    """Whoever is asked to stop it says that it is gone."""
    owner = journey.begin()
    owner.kill()
    assert journey.left_over() == []
    assert [journey.stop("2"), journey.stop("2")] == [0, 0]
    assert journey.ends() == {"2": "gone"}
    journey.finish_all()
    assert journey.ends() == {"1": "gone", "2": "gone"}
    assert journey.of("background.stop_requested") == []


def test_d17_x25_a_process_that_stands_still_has_it_still(journey: BackgroundJourney) -> None:
    """It is not gone, and as soon as the process goes on, it does what it was asked meanwhile."""
    owner = journey.begin()
    owner.send(signal.SIGSTOP)
    journey.let_go()
    assert journey.run("-p", "last go", "--continue", CODER_STILL_SECONDS="0.5") == 0
    assert journey.ends() == {}
    stopping = journey.start_stopping("1")
    assert wait_until(journey.is_asked, else_return=lambda: ["not asked"]) == []
    assert [_is_alive(pid) for pid in journey.pids()] == [True, True]
    owner.send(signal.SIGCONT)
    assert stopping.wait().code == 0
    journey.finish(owner)
    assert journey.ends() == {"1": "stopped", "2": "gone"}
    assert journey.left_over() == []


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
