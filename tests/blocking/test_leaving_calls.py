"""Nobody is there to answer, so `coder -p --unattended park` and `coder answer` leave; what runs is ended first."""

import asyncio
import io
import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from coderelay.agents.agent import Agent
from coderelay.agents.turn import Turn
from coderelay.app import App
from coderelay.client.client import Client
from coderelay.host.host import Host
from coderelay.protocol.asks import Answers, Ask, QuestionAsk
from coderelay.protocol.calls import Call, Finished, Need, Question
from coderelay.protocol.commands import Accepted
from coderelay.protocol.events import CallEnded, Recorded, asks_in
from coderelay.protocol.ids import CallId, SessionId
from coderelay.protocol.live_updates import Live
from coderelay.protocol.queries import ListAsks
from coderelay.surfaces.headless.exit_codes import DONE, INTERRUPTED, PARKED, RunState
from coderelay.surfaces.headless.open_turn_follower import print_open_turns
from coderelay.surfaces.headless.run_prompt import PromptRun
from coderelay.surfaces.headless.slow_reader_output import NullOutput
from coderelay.surfaces.terminal.plain_repl import PlainRepl
from coderelay.testing.scripted_external_agent import BlockingAgent
from tests.blocking.scene import held, of_kind, steps
from tests.house import ME, InHouse, house, story
from tests.model_server import says, script

pytestmark = pytest.mark.quick

FIRST, SECOND = "Which colour?", "Which size?"


class Busy(BlockingAgent):
    """Puts a question; then makes a call that runs until `ends`, and puts another question meanwhile."""

    def __init__(self, questions: tuple[str, ...]) -> None:
        super().__init__(steps())
        self._questions = questions
        self.ends = asyncio.Event()

    async def run(self, turn: Turn) -> None:
        *before, beside = self._questions
        for question in before:
            await _wonder(turn, question)
        call = Call(CallId("slow"), "bash", json.dumps({"command": "make"}))
        need = Need(tool="bash", kind="command", title="make", command="make")
        await turn.ask(call, need)
        async with asyncio.TaskGroup() as group:
            group.create_task(_wonder(turn, beside))
            await self.ends.wait()
            await turn.heard(call, need, Finished("made"))
        await turn.finish()


async def _wonder(turn: Turn, question: str) -> None:
    call = Call(CallId(question), "ask_user", json.dumps({"question": question}))
    need = Need(tool="ask_user", kind="ask", title=question, questions=(Question(question),))
    decision = await turn.ask(call, need)
    if isinstance(decision, Answers):
        await turn.heard(call, need, Finished(decision.answers[question]))


def _questions(asks: Sequence[Ask]) -> list[str]:
    return [each.question for ask in asks if isinstance(ask, QuestionAsk) for each in ask.questions]


class Watched:
    """A client that tells when its surface goes on following although the question was put."""

    def __init__(self, host: Host, question: str) -> None:
        self._host = host
        self._question = question
        self.send, self.get = host.send, host.get
        self.goes_on = asyncio.Event()

    async def follow(self, session: SessionId, after: int = 0) -> AsyncGenerator[Recorded | Live, None]:
        async with aclosing(self._host.follow(session, after)) as feed:
            async for each in feed:
                yield each
                if isinstance(each, Recorded) and self._question in _questions(asks_in(each.event)):
                    self.goes_on.set()


@asynccontextmanager
async def busy_house(root: Path, *questions: str) -> AsyncGenerator[tuple[InHouse, Busy, Watched]]:
    agent = Busy(questions)

    class Built(App):
        def agents(self) -> list[Agent]:
            return [*super().agents(), agent]

    async with house(root, script(says("nobody asks a model")), build=Built) as coder:
        yield coder, agent, Watched(coder.host, questions[-1])


def unattended(coder: InHouse, client: Watched) -> PromptRun:
    """`coder -p --unattended park`"""
    return PromptRun(cast(Client, client), coder.session, RunState(), NullOutput(), "park", ME)


def run_parked(coder: InHouse, client: Watched) -> asyncio.Task[int]:
    return asyncio.create_task(unattended(coder, client).prompt("go", 1, None))


async def goes_on(client: Watched, surface: asyncio.Task[Any]) -> bool:
    """Whether the surface stays after the ask was opened."""
    waiting = asyncio.create_task(client.goes_on.wait())
    await asyncio.wait({waiting, surface}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    return client.goes_on.is_set()


async def ends(coder: InHouse) -> list[object]:
    return [each.outcome for each in await of_kind(coder, CallEnded) if isinstance(each, CallEnded)]


@story
async def test_x24_a_parked_run_leaves_when_the_call_beside_the_ask_has_ended(tmp_path: Path) -> None:
    """Symptom: the call was cut off, and its end was unknown."""
    async with busy_house(tmp_path, FIRST) as (coder, agent, client):
        await coder.create("yolo", agent="blocking")
        surface = run_parked(coder, client)
        assert await goes_on(client, surface)
        assert await ends(coder) == []
        agent.ends.set()
        assert await surface == PARKED
        assert _questions([each.ask for each in await coder.host.get(ListAsks(coder.session))]) == [FIRST]
    async with busy_house(tmp_path, FIRST) as (other, _, _):
        await other.open(coder.session)
        assert await ends(other) == [Finished("made")]


@story
async def test_x24_lines_from_a_pipe_leave_when_the_call_beside_the_ask_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: `echo prompt | coder --unattended park` cut the call off, as `coder -p` did before."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("go\n"))
    async with busy_house(tmp_path, FIRST) as (coder, agent, client):
        await coder.create("yolo", agent="blocking")
        repl = PlainRepl(cast(Client, client), coder.session, ME, lambda _, __: None, lambda _: "park")
        surface = asyncio.create_task(repl.run(1))
        assert await goes_on(client, surface)
        assert await ends(coder) == []
        agent.ends.set()
        assert await surface == "parked"
        assert await ends(coder) == [Finished("made")]
        assert _questions([each.ask for each in await coder.host.get(ListAsks(coder.session))]) == [FIRST]


@story
async def test_x24_a_parked_run_that_is_answered_while_its_call_runs_ends_its_turn(tmp_path: Path) -> None:
    async with busy_house(tmp_path, FIRST) as (coder, agent, client):
        await coder.create("yolo", agent="blocking")
        surface = run_parked(coder, client)
        assert await goes_on(client, surface)
        (ask,) = await held(coder)
        await coder.answer(ask, Answers({FIRST: "Red"}))
        agent.ends.set()
        assert await surface == DONE
        assert sorted(str(each) for each in await ends(coder)) == sorted(
            map(str, (Finished("Red"), Finished("made")))
        )


@story
async def test_x12_ctrl_c_ends_a_parked_run_whose_call_does_not_end(tmp_path: Path) -> None:
    async with busy_house(tmp_path, FIRST) as (coder, _, client):
        await coder.create("yolo", agent="blocking")
        run = unattended(coder, client)
        surface = asyncio.create_task(run.prompt("go", 1, None))
        assert await goes_on(client, surface)
        await run.stop()
        assert await surface == INTERRUPTED


@story
async def test_x24_an_answer_that_carries_the_turn_on_waits_for_the_call_beside_the_next_ask(tmp_path: Path) -> None:
    async with busy_house(tmp_path, FIRST, SECOND) as (coder, _, _):
        await coder.create("yolo", agent="blocking")
        await coder.prompt("go")
        (ask,) = await held(coder)
    async with busy_house(tmp_path, FIRST, SECOND) as (other, agent, client):
        await other.open(coder.session)
        answered = await other.answer(ask, Answers({FIRST: "Red"}))
        assert isinstance(answered, Accepted)
        surface = asyncio.create_task(print_open_turns(cast(Client, client), other.session, answered.head))
        assert await goes_on(client, surface)
        agent.ends.set()
        assert await surface == PARKED
        assert (await ends(other))[-1] == Finished("made")
