"""A process that stands still long enough is followed by another, and can write nothing when it wakes."""

import signal

import pytest

from tests.coder_process import Started
from tests.crash.journey import CRASHING, Journey, wait_until
from tests.log_checker import BrokenPromise

STILL = {"CODER_STILL_SECONDS": "0.6"}
ARROWS = [
    "before:turn.started:1",
    "after:turn.started:1",
    "before:model.asked:1",
    "after:model.answered:2",
    "before:message.added:1",
    "after:message.added:1",
    "before:tool.ran:2",
    "after:tool.ran:2",
    "before:call.ended:3",
    "before:turn.ended:1",
]


@pytest.mark.parametrize("arrow", ARROWS)
def test_x25_an_owner_paused_past_its_time_writes_nothing_when_it_wakes(journey: Journey, arrow: str) -> None:
    paused = journey.start("-p", "do first", CODER_PAUSE=arrow)
    journey.wait_until_paused(paused)
    journey.carry_on(**STILL)
    paused.send(signal.SIGCONT)
    ran = paused.wait()
    assert ran.code == 0
    assert "Traceback" not in ran.err  # it is told in words, if at all
    journey.printed.append(ran.out.splitlines(keepends=True))
    journey.check()


def test_an_owner_that_wakes_after_another_took_over_says_so_in_a_line(journey: Journey) -> None:
    """Symptom: a traceback of `Fenced`."""
    pause = {"CODER_PAUSE": "after:tool.ran:1", "HOME": str(journey.coder.home)}
    first = journey.coder.fork(CRASHING, "-p", "do first", "--mode", "yolo", env=pause)
    journey.wait_until_paused(first)
    second = journey.start("-p", "do last", "--continue", CODER_PAUSE="before:tool.ran:1", **STILL)
    journey.wait_until_paused(second)
    first.send(signal.SIGCONT)
    assert first.process.stderr is not None
    told = next(line for line in iter(first.process.stderr.readline, "") if not line.startswith(("• ", "  ")))
    assert told == "coder: another process continues this session, because this one did not respond\n"
    second.send(signal.SIGCONT)
    assert journey.finish(second) == 0
    ran = first.wait()
    assert (ran.code, ran.out) == (0, "done first\n")


def test_the_checker_sees_an_owner_without_an_epoch(journey: Journey) -> None:
    """It was followed while its command ran; when it wakes it ends the call a second time."""
    first, second = _two_owners_in_one_turn(journey, CODER_MUTANT="no-epoch")
    first.send(signal.SIGCONT)
    assert wait_until(lambda: _ends(journey)[:2] == ["call_1", "call_1"], lambda: _ends(journey)) == []
    second.send(signal.SIGCONT)
    journey.finish(second)
    journey.finish(first)
    with pytest.raises(
        BrokenPromise, match=r"call\.(ended|started) more than once|an older epoch wrote after a newer one"
    ):
        journey.check()


def test_x25_an_owner_is_fenced_in_the_middle_of_the_next_owners_turn(journey: Journey) -> None:
    first, second = _two_owners_in_one_turn(journey)
    first.send(signal.SIGCONT)
    assert first.process.stdout is not None
    seen = next(line for line in first.process.stdout if '"type":"user"' in line)
    assert "may have run" in seen  # what the second owner wrote of the first one's call
    second.send(signal.SIGCONT)
    assert journey.finish(second) == 0
    assert journey.finish(first) == 0
    journey.check()


def _two_owners_in_one_turn(journey: Journey, **env: str) -> tuple[Started, Started]:
    """The first is paused after its command ran and before that is written; the second has taken the turn,
    written that call off, and is paused before the next."""
    first = journey.start("-p", "do first", CODER_PAUSE="after:tool.ran:1", **env)
    journey.wait_until_paused(first)
    second = journey.start("-p", "do last", "--continue", CODER_PAUSE="before:tool.ran:1", **STILL)
    journey.wait_until_paused(second)
    return first, second


def _ends(journey: Journey) -> list[str]:
    return [event["call_id"] for event in journey.log() if event["kind"] == "call.ended"]


def test_the_checker_sees_an_append_without_a_comparison(journey: Journey) -> None:
    journey.append_without_comparing()
    with pytest.raises(BrokenPromise, match=r"older epoch|more than once"):
        journey.check()


def test_the_checker_sees_calls_that_run_twice(journey: Journey) -> None:
    journey.run_calls_twice()
    with pytest.raises(BrokenPromise, match=r"call\.started more than once"):
        journey.check()
