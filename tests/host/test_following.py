"""Whoever follows a session in the process that runs it gets its events from memory, not from the log."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from coderelay.protocol.events import Recorded, TurnEnded
from coderelay.protocol.ids import SessionId
from tests.host.test_ask_queries import CountingHouse, CountingStore
from tests.house import InHouse, house, story
from tests.model_server import bash, proposes, says, script

pytestmark = pytest.mark.quick


@story
async def test_a_turn_that_runs_here_is_followed_without_reading_the_log(tmp_path: Path) -> None:
    """Symptom: every event of a turn was read and decoded again for each of its followers."""
    async with house(tmp_path, script(proposes(bash("true")), says("done")), build=CountingHouse) as coder:
        session = await coder.create("yolo")
        followers = [asyncio.create_task(_turn(coder, session)) for _ in range(2)]
        await coder.prompt("go")
        first, second = await asyncio.gather(*followers)
        counting = coder.host.store
        assert isinstance(counting, CountingStore)
        assert counting.read_of[session] == 1  # what there was before the turn
        assert first == second == await counting.read(session, 1)


async def _turn(coder: InHouse, session: SessionId) -> list[Recorded]:
    found: list[Recorded] = []
    async with aclosing(coder.host.follow(session, 1)) as feed:
        async for each in feed:
            if isinstance(each, Recorded):
                found.append(each)
                if isinstance(each.event, TurnEnded):
                    return found
    raise AssertionError("the feed ended")
