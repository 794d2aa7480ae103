"""Killed where people steer, change and pay, and where a summary is made; carried on by a new process."""

import os
import random
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.coder_process import Coder, Started
from tests.crash.journey import wait_until
from tests.crash.long_journey import LongJourney, long_job
from tests.log_checker import BrokenPromise
from tests.model_server import by_history, model_server_thread

Opened = Callable[..., LongJourney]


@pytest.fixture
def journey(tmp_path: Path) -> Generator[Opened]:
    """Opens the one journey of a test."""
    with ExitStack() as stack:

        def open_journey(budget: float | None = None) -> LongJourney:
            (tmp_path / "work").mkdir()
            server = stack.enter_context(model_server_thread(by_history(long_job)))
            return LongJourney(Coder(tmp_path / "home", tmp_path / "work", server.base_url), server, budget)

        yield open_journey


def sides(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("arrow", [f"{side}:{kind}" for kind in kinds for side in ("before", "after")])


SUMMARY = [
    "before:summary.asked:1",
    "after:summary.heard:1",
    "after:summary.heard:3",
    "after:summary.answered:1",
    "before:history.compacted:1",
    "after:history.compacted:1",
]


@pytest.mark.parametrize("arrow", SUMMARY)
def test_x25_c11_killed_where_a_summary_is_made_in_mid_turn(journey: Opened, arrow: str) -> None:
    long = journey()
    assert long.run("-p", "do long", CODER_CRASH=arrow) == -9
    long.carry_on()
    long.check()
    made_twice = arrow.startswith(("before:history", "after:summary"))
    assert len(long.summaries()) == len(long.of("history.compacted")) + made_twice


def test_x25_c11_killed_again_at_every_further_summary(journey: Opened) -> None:
    long = journey()
    assert long.run("-p", "do long", CODER_CRASH="before:history.compacted:1") == -9
    arrows = ["after:summary.answered:1", "after:history.compacted:1", "before:history.compacted:1"]
    for name, arrow in zip("abc", arrows, strict=True):
        assert long.run("-p", f"do {name}", "--continue", CODER_CRASH=arrow) == -9
    long.carry_on()
    long.check()
    assert len(long.summaries()) == len(long.of("history.compacted")) + 3


@pytest.mark.parametrize("arrow", SUMMARY)
def test_x25_c28_killed_where_a_summary_is_the_task(journey: Opened, arrow: str) -> None:
    long = journey()
    assert long.run("-p", "do first") == 0
    before = len(long.of("history.compacted"))
    assert long.command("compact", CODER_CRASH=arrow) == -9
    long.carry_on()
    long.check()
    tasks = [event.get("task", "prompt") for event in long.of("turn.started")]
    assert tasks == ["prompt", "compact", "prompt"]
    compact = long.of("turn.started")[1]["turn_id"]
    made = [event["turn_id"] for event in long.of("history.compacted")]
    assert (made.count(compact), made.index(compact)) == (1, before)


def test_x25_c28_killed_before_its_first_prompt_there_is_nothing_to_sum_up(journey: Opened) -> None:
    """Symptom: the random kills found more summaries in the log than were asked for."""
    long = journey()
    assert long.run("-p", "do first", CODER_CRASH="before:prompt.admitted:1") == -9
    assert long.command("compact") == 0
    assert long.summaries() == []
    (nothing,) = long.of("history.compacted")
    assert (nothing["summary"], nothing["dropped"], nothing.get("cost")) == ("", 0, None)
    long.carry_on()
    long.check()


@sides("prompt.taken:1")
def test_x25_x08_killed_where_steering_is_taken(journey: Opened, arrow: str) -> None:
    long = journey()
    owner = long.start("-p", "do held", CODER_CRASH=arrow)
    long.wait_for_the_held_step()
    assert [long.command("steer", f"do {name}") for name in ("blue", "green")] == [0, 0]
    long.let_go()
    assert long.finish(owner) == -9
    long.carry_on()
    long.check()
    assert long.texts("turn.started") == ["do held", "do last"]
    assert long.texts("prompt.taken") == ["do blue", "do green"]


@sides("prompt.admitted:1")
def test_x25_x08_killed_where_steering_is_sent(journey: Opened, arrow: str) -> None:
    """And its turn dies before it hears it."""
    long = journey()
    owner = long.start("-p", "do held")
    long.wait_for_the_held_step()
    assert long.command("steer", "do blue", CODER_CRASH=arrow) == -9
    owner.process.kill()
    long.finish(owner)
    long.let_go()
    long.carry_on()
    long.check()
    assert long.texts("prompt.taken") == ([] if arrow.startswith("before") else ["do blue"])


@sides("prompt.edited:1")
def test_x25_x08_killed_where_a_waiting_prompt_is_changed(journey: Opened, arrow: str) -> None:
    long = journey()
    owner = long.start("-p", "do held")
    long.wait_for_the_held_step()
    assert long.command("send", "do blue") == 0
    assert long.command("edit", "do green", CODER_CRASH=arrow) == -9
    long.let_go()
    assert long.finish(owner) == 0
    long.carry_on()
    long.check()
    changed = "do blue" if arrow.startswith("before") else "do green"
    assert long.texts("turn.started") == ["do held", changed, "do last"]


@sides("session.configured:1")
def test_x25_c21_killed_where_the_model_is_changed_in_mid_turn(journey: Opened, arrow: str) -> None:
    long = journey()
    owner = long.start("-p", "do held")
    long.wait_for_the_held_step()
    assert long.command("model", "openai:other", CODER_CRASH=arrow) == -9
    long.let_go()
    assert long.finish(owner) == 0
    long.check()
    later = "openai:scripted" if arrow.startswith("before") else "openai:other"
    assert models(long) == ["openai:scripted", *[later] * (len(models(long)) - 1)]


@sides("message.added:2")
def test_x25_c21_killed_where_the_new_model_answers_for_the_first_time(journey: Opened, arrow: str) -> None:
    long = journey()
    owner = long.start("-p", "do held", CODER_CRASH=arrow)
    long.wait_for_the_held_step()
    assert long.command("model", "openai:other") == 0
    long.let_go()
    assert long.finish(owner) == -9
    long.carry_on()
    long.check()
    assert models(long) == ["openai:scripted", *["openai:other"] * (len(models(long)) - 1)]


def models(long: LongJourney) -> list[str]:
    return [event["model"] for event in long.log() if event["kind"] in ("message.added", "history.compacted")]


BUDGET = 0.01


@sides("ask.opened:1")
def test_x25_killed_where_a_budget_is_asked_about(journey: Opened, arrow: str) -> None:
    long = journey(BUDGET)
    assert long.run("-p", "do long", "--unattended", "park", CODER_CRASH=arrow) == -9
    assert long.command("rest") == 5
    (ask,) = long.asks()
    assert long.answer(ask) == 0
    assert long.command("rest", CODER_CRASH=arrow) == -9  # the next time that the money is gone
    long.settle()
    long.check()
    assert len(long.of("ask.answered")) == len(long.of("ask.opened")) >= 2


@sides("ask.answered:1")
def test_x25_killed_where_a_budget_is_raised(journey: Opened, arrow: str) -> None:
    long = journey(BUDGET)
    assert long.run("-p", "do long", "--unattended", "park") == 5
    (ask,) = long.asks()
    assert long.answer(ask, CODER_CRASH=arrow) == -9
    assert long.asks() == ([ask] if arrow.startswith("before") else [])
    long.settle()
    long.check()


def test_the_check_sees_notes_that_are_not_told_again_after_a_summary(journey: Opened) -> None:
    long = journey()
    assert long.run("-p", "do long", CODER_MUTANT="untold") == 0
    with pytest.raises(BrokenPromise, match="was not told again: <environment>"):
        long.check()


def test_the_check_sees_money_that_nobody_allowed(journey: Opened) -> None:
    long = journey(BUDGET)
    assert long.run("-p", "do long", CODER_MUTANT="unasked") == 0
    with pytest.raises(BrokenPromise, match="more than was allowed"):
        long.check()


def test_the_checker_sees_steering_that_is_taken_twice(journey: Opened) -> None:
    long = journey()
    owner = long.start("-p", "do held", "--max-steps", "4", CODER_MUTANT="forgetful")
    long.wait_for_the_held_step()
    assert long.command("steer", "do blue") == 0
    long.let_go()
    long.finish(owner)
    with pytest.raises(BrokenPromise, match=r"prompt\.taken of a prompt that did not wait"):
        long.check()


RUNS = int(os.environ.get("CODER_SOAK", "1"))
KILLS = 5


@pytest.mark.parametrize("seed", range(RUNS))
def test_x25_killed_at_random_moments_while_people_steer_and_pay(journey: Opened, seed: int) -> None:
    chance = random.Random(seed)
    long = journey(chance.choice([0.05, 0.3]))
    long.let_go()
    names = iter("abcdefghijklmnop")
    for _ in range(KILLS):
        running = [long.start("-p", f"do {next(names)}", "--unattended", "park", *long.go_on())]
        if long.go_on():
            running.append(meddle(long, next(names), chance))
        for each in running:
            kill_somewhere(long, each, chance)
        long.finish(running[0])
        for each in running[1:]:
            each.wait()
        for ask in long.asks() if long.go_on() else []:
            assert long.answer(ask) == 0
    if not long.go_on():
        assert long.run("-p", "do last", "--unattended", "park") in (0, 5)
    long.settle()
    long.check()


def kill_somewhere(long: LongJourney, started: Started, chance: random.Random) -> None:
    """Some requests from now and a moment later, unless it has ended before."""
    requests = len(long.server.received) + chance.randint(0, 4)

    def is_time() -> bool:
        return len(long.server.received) >= requests or started.process.poll() is not None

    wait_until(is_time, else_return=list, seconds=2.0)
    time.sleep(chance.uniform(0.0, 0.1))
    started.process.kill()


def meddle(long: LongJourney, name: str, chance: random.Random) -> Started:
    commands = [("steer", f"do {name}"), ("edit", f"do {name}"), ("compact", ""), ("model", "openai:other")]
    return long.begin(*chance.choice(commands))
