"""Killed while a child is opened, works, waits or ends: nothing runs twice, and every call has its end."""

import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.children.conversations import task
from tests.coder_process import Coder, Started
from tests.crash.journey import Journey, wait_until
from tests.log_checker import Event, check_settled, read_logs
from tests.model_server import (
    Answer,
    History,
    bash,
    by_history,
    model_server_thread,
    proposes,
    says,
)

WAITS = "echo b >> effects; touch begun; until [ -e go ]; do sleep .01; done"


def job(history: History) -> Answer:
    """The first turn gives a task, whose agent runs two commands, the second one until it is let go. A later prompt
    only gets an answer."""
    prompts = [place for place, said in enumerate(history) if said.role == "user" and said.text.endswith("now")]
    step = sum(said.role == "assistant" for said in history[prompts[-1] :])
    match history[prompts[-1]].text.split()[-2:]:
        case ["work", "now"]:
            return [proposes(bash("echo a >> effects")), proposes(bash(WAITS)), says("worked")][step]
        case ["first", "now"]:
            return [proposes(task("work", "work now")), says("done first")][step]
        case _:
            return says("done last")


class ChildJourney(Journey):
    def logs(self) -> tuple[list[Event], list[Event]]:
        """The parent's, and the child's if there is one."""
        logs = read_logs(self.coder.home / "sessions.db").values()
        (parent,) = [log for log in logs if "parent" not in log[0]]
        children = [log for log in logs if "parent" in log[0]]
        return parent, children[0] if children else []

    def let_go(self) -> None:
        (self.coder.cwd / "go").touch()

    def begin(self, **env: str) -> Started:
        """A process whose child's second command runs."""
        started = self.start("-p", "first now", **env)
        assert wait_until((self.coder.cwd / "begun").exists, else_return=lambda: ["never"]) == []
        return started

    def finish_all(self) -> tuple[Event, list[str]]:
        """A last process carries on. How the task ended, and how the child's calls did."""
        self.let_go()
        assert self.run("-p", "last now", "--continue") == 0
        parent, child = self.logs()
        check_settled(parent)
        check_settled(child)
        effects = self.effects()
        assert len(effects) == len(set(effects)), effects
        assert self.server.violations == []
        assert self.left_over() == []
        assert len(_of(parent, "child.opened")) <= 1
        (task_end,) = _of(parent, "call.ended")
        return task_end["outcome"], [each["outcome"]["type"] for each in _of(child, "call.ended")]


def _of(log: list[Event], kind: str) -> list[Event]:
    return [event for event in log if event["kind"] == kind]


@pytest.fixture
def journey(tmp_path: Path) -> Generator[ChildJourney]:
    (tmp_path / "work").mkdir()
    with model_server_thread(by_history(job)) as server:
        yield ChildJourney(Coder(tmp_path / "home", tmp_path / "work", server.base_url), server)


@pytest.mark.quick
def test_killed_while_the_child_works(journey: ChildJourney) -> None:
    journey.begin().kill()
    outcome, calls = journey.finish_all()
    assert (outcome, calls) == ({"type": "unknown"}, ["finished", "unknown"])
    _, child = journey.logs()
    assert [each["ending"] for each in _of(child, "turn.ended")] == ["stopped"]
    assert journey.effects() == ["a", "b"]


BEGINNING = ["call.started:1", "session.created:2", "child.opened:1", "prompt.admitted:2", "turn.started:2"]
KNOWN_LATER = ("before:call.started:1", "after:prompt.admitted:2", "before:turn.started:2", "after:message.added:4")
WORKING = ["message.added:2", "tool.ran:1", "call.ended:1", "message.added:3", "message.added:4"]


@pytest.mark.parametrize("arrow", [f"{side}:{each}" for each in BEGINNING + WORKING for side in ("before", "after")])
def test_parent_killed_at_each_step_of_a_task(journey: ChildJourney, arrow: str) -> None:
    """A child that has not begun may do so later; one that was cut off is stopped; one that has ended has ended."""
    journey.let_go()
    assert journey.run("-p", "first now", CODER_CRASH=arrow) == -9
    outcome, _ = journey.finish_all()
    known = arrow in KNOWN_LATER
    assert (outcome["type"], outcome.get("output")) == (("finished", "worked") if known else ("unknown", None))


def test_killed_when_the_child_has_ended_and_its_parent_does_not_know(journey: ChildJourney) -> None:
    """Nothing is lost: the child's log has the answer."""
    journey.let_go()
    assert journey.run("-p", "first now", CODER_CRASH="before:call.ended:3") == -9
    outcome, calls = journey.finish_all()
    assert (outcome["type"], outcome["output"]) == ("finished", "worked")
    assert calls == ["finished", "finished"]


def test_killed_while_a_stop_is_on_its_way(journey: ChildJourney) -> None:
    """The parent's stop is on disk, the child's is not: it is stopped all the same."""
    owner = journey.begin(CODER_CRASH="before:stop.requested:2")
    owner.send(signal.SIGINT)
    assert journey.finish(owner) == -9
    outcome, calls = journey.finish_all()
    assert (outcome, calls) == ({"type": "unknown"}, ["finished", "unknown"])
    assert [each["ending"] for log in journey.logs() for each in _of(log, "turn.ended")] == [
        "stopped",
        "done",
        "stopped",
    ]
    assert journey.effects() == ["a", "b"]
