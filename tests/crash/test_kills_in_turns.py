"""Killed before and after every arrow of a turn, and at random moments; carried on by a new process."""

import os

import pytest

from tests.crash.journey import Journey

ARROWS = [
    f"{side}:{arrow}:{times}"
    for side, arrow, most in [
        ("before", "session.created", 1),
        ("after", "session.created", 1),
        ("before", "prompt.admitted", 1),
        ("after", "prompt.admitted", 1),
        ("before", "turn.started", 1),
        ("after", "turn.started", 1),
        ("before", "model.asked", 3),
        ("after", "model.heard", 3),
        ("after", "model.answered", 3),
        ("before", "message.added", 3),
        ("after", "message.added", 3),
        ("before", "tool.ran", 6),
        ("after", "tool.ran", 6),
        ("before", "call.ended", 6),
        ("after", "call.ended", 6),
        ("before", "turn.ended", 1),
        ("after", "turn.ended", 1),
        ("before", "snapshot", 2),
        ("after", "snapshot", 2),
    ]
    for times in range(1, most + 1)
]


@pytest.mark.parametrize("arrow", ARROWS)
def test_x25_killed_between_two_steps_of_a_turn_and_continued(journey: Journey, arrow: str) -> None:
    assert journey.run("-p", "do first", CODER_CRASH=arrow) == -9
    journey.carry_on()
    journey.check()


def test_x25_killed_again_while_carrying_on(journey: Journey) -> None:
    """Four processes die on the same turn, each a little further, before one finishes it."""
    arrows = ["after:tool.ran:1", "before:model.asked:1", "after:call.ended:1", "after:model.answered:1"]
    assert journey.run("-p", "do first", CODER_CRASH=arrows[0]) == -9
    for number, arrow in enumerate(arrows[1:]):
        assert journey.run("-p", f"do more{number}", "--continue", CODER_CRASH=arrow) == -9
    journey.carry_on()
    journey.check()


RUNS = int(os.environ.get("CODER_SOAK", "4"))


@pytest.mark.parametrize("seed", range(RUNS))
def test_x25_killed_at_a_random_moment(journey: Journey, seed: int) -> None:
    journey.kill_at_random_moments(seed, between=(0.0, 0.2))
    journey.carry_on()
    journey.check()
