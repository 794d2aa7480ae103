"""The owner of a blocking turn leaves it, because nobody answers in time, and is killed at every arrow of that."""

import pytest

from tests.blocking.kill_scene import BlockingScene

LEAVING = [
    "before:ask.parked:1",
    "after:ask.parked:1",
    "before:turn.parked:1",
    "after:turn.parked:1",
]
RETURNING = [
    "before:ask.answered:1",
    "after:ask.answered:1",
    "before:session.claimed:1",
    "after:session.claimed:1",
    "before:call.proposed:1",
    "after:call.proposed:1",
    "after:agent.asked:1",
    "before:call.ended:2",
]


@pytest.mark.parametrize("arrow", LEAVING)
def test_x04_x25_killed_while_it_leaves(killed: BlockingScene, arrow: str) -> None:
    assert killed.hold("ask first", "park", CODER_CRASH=arrow).wait().code == -9
    assert len(killed.asks()) == 1
    killed.finish()
    check(killed)


@pytest.mark.parametrize("arrow", RETURNING)
def test_x04_x25_killed_while_it_goes_on_with_the_answer(killed: BlockingScene, arrow: str) -> None:
    assert killed.hold("ask first", "park").wait().code == 5
    (ask,) = killed.asks()
    assert killed.answer(ask, "Red", CODER_CRASH=arrow).code == -9
    killed.finish()
    check(killed)


def check(killed: BlockingScene) -> None:
    """Each effect once, the agent is told the answer once, and no call beside an ask is cut off."""
    killed.check()
    asked = {each["call"]["id"] for each in killed.kinds("call.proposed") if each["call"]["name"] == "ask_user"}
    ends = [each["outcome"]["type"] for each in killed.kinds("call.ended") if each["call_id"] not in asked]
    assert "unknown" not in ends
    assert {f"first{each}" for each in "abcd"} <= {*killed.effects()}
    assert sum(each["call_id"] in asked for each in killed.kinds("call.started")) == 1
    assert len(killed.kinds("ask.answered")) == len({each["ask_id"] for each in killed.kinds("ask.answered")})
