"""Every agent passes the suite of agents, with the log in a file and in PostgreSQL; an agent that breaks a promise
does not."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from coderelay.agents.agent import Agent
from coderelay.agents.turn import Turn
from coderelay.app import App
from coderelay.client.client import Client
from coderelay.protocol.calls import Call, Finished, Need
from coderelay.protocol.ids import CallId
from coderelay.testing.agent_suite import (
    CHECKS,
    Check,
    Subject,
    a_denied_call_has_no_effect,
    name,
    run,
    what_happens_is_one_message,
)
from coderelay.testing.agent_suite import an_ask_outlives_the_process_that_asked as outlives
from coderelay.testing.scripted_external_agent import BlockingAgent, Says, Step, uses
from tests import house as houses
from tests.house import house
from tests.model_server import Answer, History, by_history, proposes, says, write

pytest_plugins = ["tests.postgres"]

SPEAKS, WRITES = "say hello", "write it"


@pytest.fixture(params=[pytest.param("sqlite", marks=pytest.mark.quick), "postgres"], autouse=True)
def place_of_the_log(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "postgres":
        monkeypatch.setattr(houses, "log_address", request.getfixturevalue("database"))


def answer(history: History) -> Answer:
    if history[-1].role == "user" and history[-1].text.endswith(WRITES):
        return proposes(write("made", "x"))
    return says("hello")


def steps(prompt: str) -> list[Step]:
    return [uses("echo x > made"), Says("done")] if prompt == WRITES else [Says("hello")]


def subject(
    root: Path, agent: str, speaks: str = SPEAKS, writes: str = WRITES, blocking: Callable[[], Agent] | None = None
) -> Subject:
    class Built(App):
        def agents(self) -> list[Agent]:
            return [*super().agents(), blocking() if blocking is not None else BlockingAgent(steps)]

    @asynccontextmanager
    async def open_process() -> AsyncGenerator[Client]:
        async with house(root, by_history(answer), build=Built) as coder:
            yield coder.host

    (root / "work").mkdir()
    model = "guide" if agent == "guide" else "openai:scripted"
    return Subject(agent, open_process, str(root / "work"), speaks=speaks, writes=writes, model=model)


every_check = pytest.mark.parametrize("check", CHECKS, ids=name)


@every_check
def test_d02_d03_d22_x12_x25_native_is_an_agent(check: Check, tmp_path: Path) -> None:
    run(check, subject(tmp_path, "native"))


@every_check
def test_d02_d03_d22_x12_x25_the_guide_is_an_agent(check: Check, tmp_path: Path) -> None:
    run(check, subject(tmp_path, "guide", speaks="help", writes="create file made with x"))


@every_check
def test_d02_d03_d22_x12_x24_x25_an_agent_that_blocks_is_an_agent(check: Check, tmp_path: Path) -> None:
    run(check, subject(tmp_path, "blocking"))


@every_check
def test_b56_d02_d03_d22_x12_x24_x25_an_agent_that_hands_in_its_own_messages_is_an_agent(
    check: Check, tmp_path: Path
) -> None:
    run(check, subject(tmp_path, "blocking", blocking=lambda: BlockingAgent(steps, verbatim=True)))


class Deaf(BlockingAgent):
    """Makes its calls whatever it is told."""

    async def run(self, turn: Turn) -> None:
        command = steps(turn.state.turn.started.text if turn.state.turn else "")[0]
        if isinstance(command, Says):
            return await super().run(turn)
        (Path(turn.settings.cwd) / "made").write_text("x")
        return await super().run(turn)


class Repeating(BlockingAgent):
    """Makes each call twice."""

    async def run(self, turn: Turn) -> None:
        call, need = Call(CallId("again"), "bash", "{}"), Need(tool="bash", kind="command", title="again")
        if turn.continuation is not None:
            await turn.heard(call, need, Finished("once more"))
        await super().run(turn)


class Chatty(BlockingAgent):
    """Hands in messages of calls that it never reports."""

    async def run(self, turn: Turn) -> None:
        block = {"type": "tool_use", "id": "never", "name": "Bash"}
        await turn.keep([json.dumps({"type": "assistant", "message": {"content": [block]}})])
        await super().run(turn)


BROKEN = [(a_denied_call_has_no_effect, Deaf), (outlives, Repeating), (what_happens_is_one_message, Chatty)]


@pytest.mark.parametrize(("check", "broken"), BROKEN, ids=["deaf", "repeating", "chatty"])
def test_an_agent_that_breaks_a_promise_is_noticed(tmp_path: Path, check: Check, broken: type[BlockingAgent]) -> None:
    with pytest.raises(AssertionError):
        run(check, subject(tmp_path, "blocking", blocking=lambda: broken(steps)))
