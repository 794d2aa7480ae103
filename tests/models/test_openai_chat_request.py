"""What is sent: only what a strict provider accepts, and the same bytes again as the history grows."""

import json
from itertools import pairwise
from typing import Any

import pytest

from coderelay.models.model import Request
from coderelay.models.openai_chat import OpenAIChat
from coderelay.protocol.calls import Call, Denied, Failed, Finished, Need, Outcome, Stopped, Unknown
from coderelay.protocol.content import Text, Thinking
from coderelay.protocol.events import Judged, MessageAdded, TurnStarted
from coderelay.protocol.ids import CallId, MessageId, PromptId, SessionId, TurnId
from coderelay.session.state import CallState, State
from coderelay.session.transcript import Message, ToolMessage, Transcript, UserMessage
from coderelay.testing.model_server import ModelServer, bash, proposes, says, script
from tests.models.chat import KEY, TOOLS, asking, complete, scripted
from tests.models.raw import in_loop


class Session:
    """A state that grows the way a log makes it grow."""

    def __init__(self) -> None:
        self.state = State(SessionId("s"))
        self._transcript = Transcript()

    @property
    def messages(self) -> list[Message]:
        return self._transcript.update(self.state)

    def prompted(self, text: str) -> "Session":
        self.state.history.append(
            TurnStarted(
                turn_id=TurnId("t"),
                prompt_id=PromptId("p"),
                text=text,
                agent="native",
                model="m",
                mode="yolo",
                cwd="/",
                max_steps=9,
            )
        )
        return self

    def said(self, *blocks: Text | Thinking, **outcomes: tuple[Call, Outcome]) -> "Session":
        calls = tuple(call for call, _ in outcomes.values())
        message = MessageAdded(message_id=MessageId("m"), turn_id=TurnId("t"), model="m", blocks=blocks, calls=calls)
        for call, outcome in outcomes.values():
            judged = Judged(call.id, "allow", Need(call.name, "command", call.name))
            self.state.calls[call.id] = CallState(call, MessageId("m"), judged, outcome=outcome)
        self.state.history.append(message)
        return self


def called(call_id: str, arguments: str = '{"command":"make"}', name: str = "bash") -> Call:
    return Call(CallId(call_id), name, arguments)


async def sent(server: ModelServer, model: OpenAIChat, messages: list[Message]) -> bytes:
    await complete(model, asking(*messages))
    return server.received[-1].raw


@pytest.mark.quick
@in_loop
async def test_the_bytes_of_a_request_are_the_beginning_of_the_next_one() -> None:
    session = Session().prompted("build it")
    async with scripted(script(*[says("ok")] * 4)) as (server, model):
        bodies = [await sent(server, model, session.messages)]
        session.said(Thinking("hm"), Text("making"), a=(called("a"), Finished("built")))
        bodies.append(await sent(server, model, session.messages))
        session.said(b=(called("b"), Unknown()), c=(called("c"), Denied("no")))
        bodies.append(await sent(server, model, session.messages))
        session.said(Text("done")).prompted("thanks")
        bodies.append(await sent(server, model, session.messages))
    for earlier, later in pairwise(bodies):
        assert earlier.endswith(b"]}")
        assert later.startswith(earlier[:-2] + b",")


@in_loop
async def test_a_history_known_in_part_is_sent_as_if_it_were_new() -> None:
    session = Session().prompted("one")
    async with scripted(script(*[says("ok")] * 5)) as (server, model):
        await sent(server, model, session.messages)
        longer = await sent(server, model, session.prompted("two").messages)  # joined with the one before
        other = await sent(server, model, [UserMessage("other")])
        again = await sent(server, model, session.messages)
    assert json.loads(longer)["messages"][-1] == {"role": "user", "content": "one\n\ntwo"}
    assert json.loads(other)["messages"][1:] == [{"role": "user", "content": "other"}]
    assert again == longer


@in_loop
async def test_a_request_has_exactly_these_fields() -> None:
    async with scripted(script(says("ok"), says("ok"))) as (server, model):
        await complete(model, asking(UserMessage("hi")))
        await complete(model, Request("", [UserMessage("hi")], ()))
        full, least = server.requests
        headers = server.received[0].headers
    specification: dict[str, Any] = {
        "name": "bash",
        "description": "Runs a command.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
    }
    assert full == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [{"type": "function", "function": specification}],
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
    }
    assert least == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "hi"}],
    }
    assert headers.pop("host").startswith("127.0.0.1:")
    assert headers == {
        "content-length": str(server.received[0].size),
        "accept-encoding": "identity",
        "authorization": f"Bearer {KEY}",
        "content-type": "application/json",
        "accept": "text/event-stream",
        "user-agent": "coderelay",
    }
    assert len(TOOLS) == 1


@pytest.mark.parametrize(
    "session",
    [
        pytest.param(Session().prompted("one").prompted("two").prompted("three"), id="prompts joined"),
        pytest.param(Session().prompted("").said(Text("what?")).prompted("hi"), id="an empty prompt"),
        pytest.param(Session().prompted('héllo 你好 🎉 \u2028 \x00 \x7f \\ " </script>'), id="odd characters"),
        pytest.param(
            Session().prompted("go").said(a=(called("a", '{"command": "ma'), Failed("bad arguments"))),
            id="garbled arguments",
        ),
        pytest.param(
            Session().prompted("go").said(a=(called("a", ""), Failed("x")), b=(called("b", "[1]"), Failed("y"))),
            id="arguments that are no object",
        ),
        pytest.param(
            Session().prompted("go").said(a=(called("a", "[" * 5000), Failed("x"))),
            id="arguments too deep to be read",
        ),
        pytest.param(
            Session()
            .prompted("go")
            .said(Text("on it"), a=(called("a"), Unknown()), b=(called("b"), Stopped(started=True)))
            .prompted("and?")
            .said(c=(called("c"), Stopped(started=False)), d=(called("d"), Denied("no"))),
            id="unknown, stopped and denied outcomes",
        ),
        pytest.param(Session().prompted("go").said(a=(called("a"), Finished(""))), id="no output"),
        pytest.param(Session().prompted("go").said().prompted("hello?"), id="an answer of nothing"),
        pytest.param(Session().prompted("go").said(Thinking("hm"), Text("so")).prompted("and?"), id="thinking"),
    ],
)
@in_loop
async def test_a_strict_provider_accepts_every_history(session: Session) -> None:
    async with scripted(script(says("ok"))) as (_, model):
        assert (await complete(model, asking(*session.messages))).blocks == (Text("ok"),)


@in_loop
async def test_what_the_model_said_comes_back_to_it_word_for_word() -> None:
    async with scripted(script(proposes(bash("echo 'ü'"), text="look"), says("done"))) as (server, model):
        first = await complete(model, asking(UserMessage("go")))
        (proposed,) = first.calls
        session = Session().prompted("go").said(Text("look"), a=(proposed, Finished("ü\n")))
        assert isinstance(session.messages[-1], ToolMessage)
        await complete(model, asking(*session.messages))
        assert server.requests[-1]["messages"][1:] == [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": "look",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "bash", "arguments": '{"command":"echo \'ü\'"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "ü\n"},
        ]
