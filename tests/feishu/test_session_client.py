"""The handle of a session's work: what it streams, and how it is reached while it runs."""

from contextlib import aclosing
from pathlib import Path
from typing import TypeVar

import pytest

from coderelay.protocol.asks import By
from coderelay.protocol.commands import Accepted
from coderelay.protocol.errors import BadInput, UnknownAsk
from coderelay.protocol.events import TurnStarted
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import Query
from coderelay.surfaces.feishu.chat_status import ChatStatus, current_state
from coderelay.surfaces.feishu.session_client import SessionClient, start_execution
from coderelay.surfaces.feishu.session_updates_from_log import (
    AskClosed,
    ConfirmationRequired,
    Continued,
    Message,
    TextSaid,
    TurnOver,
    UserInputRequired,
)
from tests.house import house, story
from tests.model_server import bash, call, hangs, proposes, says, script

ANNE = By(who="feishu:ou_anne", via="feishu")
T = TypeVar("T")
ASK = call("ask_user", questions=[{"question": "Which name?"}])


@story
async def test_e07_e10_e12_a_handle_streams_and_takes_answers(tmp_path: Path) -> None:
    """E-05: normal output, a request for input and a request to confirm are three kinds of message. E-12: after the
    reply the same stream goes on."""
    seen: list[str] = []
    async with house(tmp_path, script(proposes(ASK), proposes(bash("rm x")), says("done"))) as coder:
        session = await coder.create(mode="default")
        execution = await start_execution(SessionClient(coder.host, session, ANNE), "go")
        async with aclosing(execution.stream) as stream:
            async for each in stream:
                for message in each.messages:
                    seen += _told(message)
                    match message:
                        case UserInputRequired(ask=ask, prompt=prompt):
                            assert prompt == "Which name?"
                            assert await current_state(coder.host, session) is ChatStatus.WAITING_INPUT
                            await execution.send_answer(ask.call_id, session, "newFile.js")
                        case ConfirmationRequired(asks=(ask,)):
                            assert await current_state(coder.host, session) is ChatStatus.WAITING_CONFIRM
                            assert isinstance(await execution.send_answer(ask.id, session, "no"), Accepted)
                        case _:
                            pass
        assert seen == [
            "user_input_required",
            "ask_closed",
            "continued",
            "confirmation_required",
            "ask_closed",
            "continued",
            "done",
            "over: done",
        ]
        assert (await coder.story())[1] == "ask_user: ok"


def _told(message: Message) -> list[str]:
    match message:
        case UserInputRequired():
            return ["user_input_required"]
        case ConfirmationRequired():
            return ["confirmation_required"]
        case AskClosed():
            return ["ask_closed"]
        case Continued():
            return ["continued"]
        case TextSaid(text):
            return [text]
        case TurnOver(ended):
            return [f"over: {ended.ending}"]
        case _:
            return []


@story
async def test_an_ask_raised_while_the_stream_began_was_told_before_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house(tmp_path, script(proposes(bash("rm x")))) as coder:
        session = await coder.create(mode="default")
        execution = SessionClient(coder.host, session, ANNE)
        answer = coder.host.get

        async def answer_late(query: Query[T]) -> T:
            """What is asked first is answered as it was before the turn began, and everything else afterwards."""
            answered = await answer(query)
            monkeypatch.setattr(coder.host, "get", answer)
            await execution.send_message("go")
            await coder.asks()
            return answered

        monkeypatch.setattr(coder.host, "get", answer_late)
        told: list[str] = []
        async with aclosing(execution.stream) as stream:
            async for each in stream:
                told += [type(message).__name__ for message in each.messages]
                if "ConfirmationRequired" in told and each.is_caught_up:
                    break
        assert told == ["PromptQueued", "TurnBegan", "ConfirmationRequired"]


@story
async def test_e08_a_message_is_queued_in_the_form_of_the_sdk(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"), says("two"))) as coder:
        session = await coder.create()
        execution = SessionClient(coder.host, session, ANNE)
        sent = await execution.send_message("hello")
        assert sent == {
            "type": "user",
            "message": {"role": "user", "content": "hello"},
            "parent_tool_use_id": None,
            "session_id": session,
        }
        await coder.ended()
        await execution.send_message("again")
        await coder.ended(2)
        assert await coder.story() == ["user: hello", "agent: one", "user: again", "agent: two"]


@story
async def test_e07_finish_stops_the_turn(tmp_path: Path) -> None:
    async with house(tmp_path, script(hangs(says("one two three"), 1))) as coder:
        session = await coder.create()
        execution = await start_execution(SessionClient(coder.host, session, ANNE), "go")
        await coder.until(lambda event: isinstance(event, TurnStarted))
        await execution.finish()
        assert (await coder.ended()).ending == "stopped"
        assert await current_state(coder.host, session) is ChatStatus.IDLE
        async with aclosing(execution.stream) as stream:
            seen = [message async for each in stream for message in each.messages]
        assert isinstance(seen[-1], TurnOver)  # a stream of a session at rest has an end


@story
async def test_an_answer_to_nothing_is_refused(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash("rm x")))) as coder:
        session = await coder.create(mode="default")
        execution = await start_execution(SessionClient(coder.host, session, ANNE), "go")
        ask = (await coder.asks())[0]
        with pytest.raises(UnknownAsk):
            await execution.send_answer("call_99", session, "yes")
        with pytest.raises(BadInput):
            await execution.send_answer(ask.id, SessionId(session), "perhaps")
