"""The process of an agent that blocks is killed before and after every arrow, and at random; others carry on."""

import json
import os
import random
import time

import pytest

from coderelay.client.views.cowork_message_parser import blocks_of
from tests.blocking.kill_scene import PARK, BlockingScene
from tests.coder_process import Ran, Started

PROPOSING = [
    "before:turn.started:1",
    "after:turn.started:1",
    "before:tree.taken:1",
    "after:tree.taken:1",
    "before:message.added:1",
    "after:message.added:1",
    "after:agent.asked:1",
    "after:agent.asked:3",
    "before:call.proposed:1",
    "after:call.proposed:1",
    "after:call.proposed:2",
]
KEEPING = [
    "before:message.kept:1",
    "after:message.kept:1",
    "after:message.kept:2",
    "after:message.kept:4",
    "before:message.kept:6",
    "after:message.kept:6",
]
ANSWERING = [
    "before:ask.answered:1",
    "after:ask.answered:1",
    "before:batch.resumed:1",
    "after:batch.resumed:1",
    "before:session.claimed:1",
    "after:session.claimed:1",
    "after:agent.asked:1",
    "before:call.proposed:1",
    "after:call.proposed:1",
    "after:agent.told:1",
    "after:agent.ran:1",
    "before:call.ended:2",
    "after:call.ended:2",
]


@pytest.mark.parametrize("arrow", PROPOSING)
def test_x24_x25_killed_while_it_proposes(killed: BlockingScene, arrow: str) -> None:
    assert killed.prompt("do first", *PARK, CODER_CRASH=arrow).wait().code == -9
    killed.finish()
    killed.check()


@pytest.mark.parametrize("arrow", KEEPING)
def test_b56_killed_where_a_message_is_kept(killed: BlockingScene, arrow: str) -> None:
    """What was handed in is there as it was, and every call and every result is told once."""
    killed.verbatim = True
    ran = killed.prompt("do first", "--unattended", "allow", CODER_CRASH=arrow).wait()
    assert ran.code == -9
    killed.finish()
    killed.check()
    rows, kept = killed.messages(), killed.kinds("message.kept")
    assert {each["message_id"]: each["data"] for each in kept}.items() <= rows.items()
    blocks = [block for row in rows.values() for block in blocks_of(json.loads(row))]
    for kind, name in (("tool_use", "id"), ("tool_result", "tool_use_id")):
        told = [each[name] for each in blocks if each["type"] == kind]
        assert len({*told}) == len(told)
        assert {*told} >= {each["call_id"] for each in killed.kinds("call.ended")}


@pytest.mark.parametrize("arrow", ANSWERING)
def test_x24_x25_killed_while_it_goes_on_with_the_answers(killed: BlockingScene, arrow: str) -> None:
    answer_until_killed(killed, arrow)
    killed.finish()
    killed.check()


def answer_until_killed(killed: BlockingScene, arrow: str) -> None:
    assert killed.prompt("do first", *PARK).wait().code == 5
    codes = [killed.answer(killed.asks()[0], "allow", CODER_CRASH=arrow).code]
    while codes[-1] != -9:
        assert codes[-1] == 5, f"nobody came to {arrow}"
        codes.append(killed.answer(killed.asks()[0], "allow", CODER_CRASH=arrow).code)


@pytest.mark.quick
def test_x24_x25_an_answer_lands_while_nobody_owns_the_session_and_the_next_owner_uses_it_once(
    killed: BlockingScene,
) -> None:
    assert killed.prompt("do first", *PARK, CODER_CRASH="after:call.proposed:1").wait().code == -9
    (ask,) = killed.asks()
    assert killed.answer(ask, "allow").code == 5  # it goes on, to the next asks
    proposed = killed.kinds("call.proposed")
    granted = [event["judged"].get("granted_by") for event in proposed]
    assert granted.count(proposed[0]["call"]["id"]) == 1
    killed.finish()
    killed.check()


RUNS = int(os.environ.get("CODER_SOAK", "2"))


@pytest.mark.parametrize("seed", range(RUNS))
def test_x24_x25_killed_at_random_moments_each_effect_once(killed: BlockingScene, seed: int) -> None:
    kill_at_random_moments(killed, seed)


def kill_at_random_moments(killed: BlockingScene, seed: int) -> None:
    chance = random.Random(seed)
    run_or_kill(killed.prompt("do first", *PARK), chance)
    for _ in range(40):
        asks = killed.asks()
        if not asks:
            break
        for started in [answering(killed, asks, chance) for _ in range(chance.randint(1, 2))]:
            ran = run_or_kill(started, chance)
            assert ran.code in (0, 1, 5, -9), ran
            assert "Traceback" not in ran.err, ran.err
    killed.finish()
    killed.check()


def answering(killed: BlockingScene, asks: list[str], chance: random.Random) -> Started:
    return killed.start("answer", chance.choice(asks), chance.choice(["allow", "allow", "deny"]))


def run_or_kill(started: Started, chance: random.Random) -> Ran:
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0.0, 0.3))
        return started.kill()
    return started.wait()
