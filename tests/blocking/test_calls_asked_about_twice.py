"""An agent that asks about one call from two places at the same time, or tells how it ended while it is judged."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from coderelay.agents.agent import Agent
from coderelay.agents.turn import Turn
from coderelay.app import App
from coderelay.protocol.asks import Allow, Decision, Deny
from coderelay.protocol.calls import Call, Finished, Need
from coderelay.protocol.events import AskAnswered, BatchResumed, CallEnded, CallProposed, CallStarted
from coderelay.protocol.ids import CallId
from coderelay.testing.scripted_external_agent import BlockingAgent
from tests.blocking.scene import begin, held, of_kind
from tests.house import InHouse, house, story
from tests.model_server import says, script

CALL = Call(CallId("same"), "bash", '{"command": "make"}')
NEED = Need(tool="bash", kind="command", title="make", command="make")


class AsksTwice(BlockingAgent):
    """It makes the call where it is allowed, so that the second place may find it made."""

    async def run(self, turn: Turn) -> None:
        self.told = [*await asyncio.gather(turn.ask(CALL, NEED), turn.ask(CALL, NEED))]
        await turn.heard(CALL, NEED, Finished("ok"))
        await turn.finish()

    told: list[Decision]


class TellsWhileItAsks(BlockingAgent):
    async def run(self, turn: Turn) -> None:
        asking = asyncio.ensure_future(turn.ask(CALL, NEED))
        await asyncio.sleep(0)  # the question is on its way
        await turn.heard(CALL, NEED, Finished("ok"))
        self.told = await asking
        await turn.finish()

    told: Decision


@asynccontextmanager
async def house_of(root: Path, agent: BlockingAgent) -> AsyncGenerator[InHouse, None]:
    class Built(App):
        def agents(self) -> list[Agent]:
            return [*super().agents(), agent]

    async with house(root, script(says("nobody asks a model")), build=Built) as coder:
        await begin(coder)
        yield coder


@story
async def test_a_call_that_is_asked_about_twice_at_the_same_time_is_one_call_with_one_ask(tmp_path: Path) -> None:
    agent = AsksTwice(lambda prompt: [])
    async with house_of(tmp_path, agent) as coder:
        (ask,) = await held(coder)
        await coder.answer(ask)
        assert (await coder.ended()).ending == "done"
        assert agent.told == [Allow(), Allow()]
        kinds = (CallProposed, AskAnswered, BatchResumed, CallStarted, CallEnded)
        assert [type(each) for each in await of_kind(coder, *kinds)] == list(kinds)


@pytest.mark.quick
@story
async def test_a_call_that_ends_while_it_is_judged_is_not_asked_about(tmp_path: Path) -> None:
    agent = TellsWhileItAsks(lambda prompt: [])
    async with house_of(tmp_path, agent) as coder:
        assert (await coder.ended()).ending == "done"
        assert agent.told == Deny("the agent has already told how this call ended")
        (proposed,) = await of_kind(coder, CallProposed)
        assert isinstance(proposed, CallProposed)
        assert proposed.judged.ask is None
        assert len(await of_kind(coder, CallEnded)) == 1
