"""The session in the OpenAI form."""

from typing import Any

import pytest

from coderelay.protocol.asks import Allow
from coderelay.protocol.calls import Call, Finished
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Image, Text, Thinking
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.session.model_messages import AssistantMessage, ToolMessage
from coderelay.session.openai_chat_format import copy_for_reading, openai_message, snapshot
from coderelay.session.state import State
from tests.session.played_session import Play
from tests.session.proposed_calls import allowed, asked

pytestmark = pytest.mark.quick

TOOL = ToolSpec("bash", "Run a command.", {"type": "object", "properties": {"command": {"type": "string"}}})


def called(call_id: str, arguments: str = '{"command":"make"}') -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "bash", "arguments": arguments}}


def test_c49_c50_a_session_is_model_tools_and_messages() -> None:
    play = Play()
    play.configure(title="build it")
    play.prompt("go")
    play.claim()
    play.message(allowed("c1"), blocks=(Thinking("hm"), Text("I build")))
    play.end_call("c1", Finished("built"))
    play.message(blocks=(Text("done"),))
    assert snapshot(play.state, [TOOL], "be brief") == {
        "id": "s",
        "title": "build it",
        "cwd": "/w",
        "agent": "native",
        "mode": "default",
        "model": "m",
        "state": "done",
        "tools": [
            {
                "type": "function",
                "function": {"name": "bash", "description": "Run a command.", "parameters": TOOL.parameters},
            }
        ],
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "I build", "reasoning": "hm", "tool_calls": [called("c1")]},
            {"role": "tool", "tool_call_id": "c1", "name": "bash", "content": "built"},
            {"role": "assistant", "content": "done"},
        ],
    }


def test_c49_images_of_a_result_follow_it_because_tool_messages_hold_text_only() -> None:
    play = Play()
    play.prompt("go")
    play.claim()
    play.message(allowed("c1"))
    play.end_call("c1", Finished("seen", images=(Image("image/png", "AA=="),)))
    play.message(blocks=(Text("done"),))
    told = "Images from the results above, in this order: bash (c1)"
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    assert snapshot(play.state, [TOOL], "")["messages"][2:] == [
        {"role": "tool", "tool_call_id": "c1", "name": "bash", "content": "seen"},
        {"role": "user", "content": [{"type": "text", "text": told}, image]},
        {"role": "assistant", "content": "done"},
    ]


def test_what_comes_later_does_not_change_a_copy_that_is_being_written() -> None:
    play = Play()
    copied: list[tuple[State, dict[str, Any]]] = []

    def copy() -> None:
        copied.append((copy_for_reading(play.state), snapshot(play.state, [TOOL], "")))

    play.prompt("go")
    play.claim()
    copy()
    play.message(asked("c1"), asked("c2"))
    copy()
    for call_id in ("c1", "c2"):
        play.answer(call_id, Allow())
        copy()
    play.claim()
    for call_id in ("c1", "c2"):
        play.end_call(call_id, Finished("built"))
        copy()
    play.message(blocks=(Text("done"),))
    copy()
    play.configure(title="later")
    play.prompt("more")
    play.claim()
    copy()
    assert [snapshot(state, [TOOL], "") for state, _ in copied] == [before for _, before in copied]
    assert len({str(before) for _, before in copied}) > 4


def test_a_session_that_waits_is_exported_up_to_the_open_batch() -> None:
    """Symptom: the export of a session with an open ask had no messages at all."""
    play = Play()
    play.prompt("go")
    play.claim()
    play.message()
    play.prompt("more")
    play.claim()
    play.message(asked("c1"))
    assert [each["content"] for each in snapshot(play.state, [], "")["messages"]] == ["go", "well", "more"]


def test_c49_what_is_sent_to_a_model_has_no_fields_for_readers() -> None:
    said = AssistantMessage((Thinking("hm"),), (Call(CallId("c1"), "bash", "{}"),))
    assert openai_message(said) == {"role": "assistant", "content": None, "tool_calls": [called("c1", "{}")]}
    result = ToolMessage(CallId("c1"), "bash", "ok")
    assert openai_message(result) == {"role": "tool", "tool_call_id": "c1", "content": "ok"}


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{"command": "a"}', '{"command": "a"}'),
        ('{"command": "a', "{}"),
        ("", "{}"),
        ("[1]", "{}"),
        ('"text"', "{}"),
        ("null", "{}"),
        ('{"a":1}{"b":2}', "{}"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "{}"),
    ],
)
def test_c49_garbled_arguments_go_back_as_an_empty_object(written: str, sent: str) -> None:
    message = AssistantMessage((), (Call(CallId("c1"), "bash", written),))
    assert openai_message(message)["tool_calls"] == [called("c1", sent)]


@pytest.mark.parametrize(
    ("made_up", "sent"),
    [
        ("bash", "bash"),
        ("mcp__git__log-all", "mcp__git__log-all"),
        ("functions.bash", "functions_bash"),
        ("run 命令", "run___"),
        ("", "_"),
        ("x" * 100, "x" * 64),
    ],
)
def test_c49_a_name_that_no_tool_could_have_goes_back_as_one(made_up: str, sent: str) -> None:
    """Symptom: a model made up the tool `functions.bash`, and every later request was refused."""
    message = AssistantMessage((), (Call(CallId("c1"), made_up, "{}"),))
    assert openai_message(message)["tool_calls"][0]["function"]["name"] == sent


def test_c49_an_id_that_is_too_long_for_others_is_shortened_and_stays_another() -> None:
    """Symptom: a server gave ids of 60 characters, and every later request to OpenAI was refused."""
    one, other = "tool_" + "x" * 60 + "1", "tool_" + "x" * 60 + "2"
    message = AssistantMessage((), (Call(CallId(one), "bash", "{}"), Call(CallId(other), "bash", "{}")))
    ids = [call["id"] for call in openai_message(message)["tool_calls"]]
    assert [len(each) for each in ids] == [40, 40]
    assert len(set(ids)) == 2
    assert openai_message(ToolMessage(CallId(one), "bash", "ok"))["tool_call_id"] == ids[0]
