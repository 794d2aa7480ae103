"""Messages that an agent hands in as its own program emitted them (B-55, B-56)."""

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coderelay.client.views import cowork_messages
from coderelay.client.views.cowork_message_parser import read_message
from coderelay.host.verbatim_agent_message_event import MOST_BYTES
from coderelay.protocol.asks import Allow, Deny
from coderelay.protocol.commands import ClearHistory, UndoTurn
from coderelay.protocol.events import CallEnded, MessageKept, TurnEnded
from coderelay.protocol.queries import ReadMessages
from coderelay.testing.scripted_external_agent import Emits, Fails, Says, Uses, uses
from tests.blocking.scene import begin, blocking_house, effect, effects, held, steps
from tests.house import ME, InHouse, story

pytestmark = pytest.mark.quick

ODD = '{ "type":"novelty" , "uuid" : "odd-1",\t"n": 1.50e+2,\n "text": "\\ud83d\\u0000 \\/ \\u65e5 日 \u2028" }'


async def messages(coder: InHouse) -> list[dict[str, Any]]:
    return [read_message(row.data) for row in (await coder.host.get(ReadMessages(coder.session))).rows]


async def texts(coder: InHouse) -> dict[str, str]:
    return {row.id: row.data for row in (await coder.host.get(ReadMessages(coder.session))).rows}


async def kept(coder: InHouse) -> list[MessageKept]:
    return [each.event for each in await coder.events() if isinstance(each.event, MessageKept)]


@story
async def test_b56_what_the_program_of_an_agent_emits_comes_back_byte_for_byte(tmp_path: Path) -> None:
    async with blocking_house(tmp_path, steps(Emits((ODD, "{}")), Says("done"))) as coder:
        await begin(coder)
        await coder.ended()
        odd, bare = await kept(coder)
        assert (odd.data, odd.message_id, bare.data) == (ODD, "odd-1", "{}")
        rows = await texts(coder)
        assert (rows["odd-1"], rows[bare.message_id]) == (ODD, "{}")
        lines = [line for each in await coder.events() for line in cowork_messages.lines(each)]
        assert ODD.replace("\n", " ") in lines
        assert all("\n" not in line for line in lines)
    async with blocking_house(
        tmp_path,
        steps(),
    ) as again:  # a new process reads the same
        again.session = coder.session
        assert (await texts(again))["odd-1"] == ODD


@story
async def test_b53_b55_b56_a_turn_is_told_in_the_messages_of_its_agent_and_in_no_others(tmp_path: Path) -> None:
    job = steps(Says("let me see"), uses(effect("a")), Says("done"))
    async with blocking_house(tmp_path, job, verbatim=True) as coder:
        await begin(coder, "make it")
        (ask,) = await held(coder)
        await coder.answer(ask, Allow())
        await coder.ended()
        prompt, *others = await messages(coder)
        assert prompt == {"type": "user_prompt", "prompt": "make it"}
        kinds = " ".join(each["type"] for each in others)
        assert kinds == "system assistant assistant user assistant result"
        assert {each["session_id"] for each in others} == {"theirs"}
        assert [each["message"]["content"][0]["type"] for each in others[1:5]] == [
            *("text", "tool_use", "tool_result", "text")
        ]


@story
async def test_b56_what_the_agent_does_not_tell_is_told_for_it(tmp_path: Path) -> None:
    """The denial of a call, and the end of a turn that failed."""
    async with blocking_house(tmp_path, steps(uses(effect("a")), Fails("no network")), verbatim=True) as coder:
        await begin(coder)
        (ask,) = await held(coder)
        await coder.answer(ask, Deny("not now"))
        await coder.ended()
        *_, result, last = await messages(coder)
        (block,) = result["message"]["content"]
        assert (block["type"], block["is_error"], last["type"]) == ("tool_result", True, "result")
        assert (last["subtype"], "no network" in last["error"]) == ("error_during_execution", True)


@story
async def test_b56_a_message_with_a_known_id_is_ignored(tmp_path: Path) -> None:
    first, again = '{"uuid":"m1","type":"system","n":1}', '{"uuid":"m1","type":"system","n":2}'
    job = steps(Emits((first, again)), Emits((again,)), Says("done"))
    async with blocking_house(tmp_path, job) as coder:
        await begin(coder)
        await coder.ended()
        assert [each.data for each in await kept(coder)] == [first]
        await coder.prompt("once more")
        await coder.ended(2)
        assert (await texts(coder))["m1"] == first


@story
async def test_b56_messages_of_another_form_stay_in_the_log_and_are_no_rows(tmp_path: Path) -> None:
    update = '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"toolCallId":"t1"}}}'
    async with blocking_house(tmp_path, steps(Emits((update,), "acp"), Says("done"))) as coder:
        await begin(coder)
        await coder.ended()
        (event,) = await kept(coder)
        assert (event.data, event.form) == (update, "acp")
        assert update not in (await texts(coder)).values()
        assert [each["type"] for each in await messages(coder)] == ["user_prompt", "system", "assistant", "result"]


@story
async def test_b56_a_text_that_is_no_message_fails_the_turn_and_is_not_kept(tmp_path: Path) -> None:
    deep = "[" * 100_000
    for number, text in enumerate(("[]", "{", '{"a": NaN}', '{"a": ' + deep, '{"a": "\ud83d"}'), 1):
        root = tmp_path / str(number)
        root.mkdir()
        async with blocking_house(root, steps(Emits((ODD, text)))) as coder:
            await begin(coder)
            ended = await coder.ended()
            assert ended.ending == "failed"
            assert "a message is no" in (ended.error or "")
            assert await kept(coder) == []


@story
async def test_b56_secrets_are_hidden_in_results_and_the_rest_stays_as_it_was(tmp_path: Path) -> None:
    key = "sk-ant-" + "a1b2" * 8
    told = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": f"key {key}\n"}]}
    image = {"type": "image", "source": {"type": "base64", "data": key}}
    result = {"type": "user", "uuid": "m1", "message": {"content": [told, image]}, "tool_use_result": {"stdout": key}}
    said = json.dumps({"type": "assistant", "uuid": "m2", "message": {"content": [{"type": "text", "text": key}]}})
    async with blocking_house(tmp_path, steps(Emits((json.dumps(result), said)), Says("done"))) as coder:
        await begin(coder)
        await coder.ended()
        rows = await texts(coder)
        found = msgspec.json.decode(rows["m1"])
        (block, picture) = found["message"]["content"]
        assert block["content"][0]["text"] == "key [hidden secret: anthropic key]\n"
        assert (picture, found["tool_use_result"]) == (image, {"stdout": "[hidden secret: anthropic key]"})
        assert rows["m2"] == said  # what a model says is stored as it said it, as for all agents


@story
async def test_b56_a_message_that_is_too_large_is_kept_as_an_outline(tmp_path: Path) -> None:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "x" * MOST_BYTES}
    large = json.dumps({"type": "user", "uuid": "m1", "session_id": "theirs", "message": {"content": [block]}})
    async with blocking_house(tmp_path, steps(Emits((large,)), Says("done"))) as coder:
        await begin(coder)
        await coder.ended()
        (event,) = await kept(coder)
        assert (event.left_out, event.results) == (len(large), ("t1",))
        outline = {"type": "user", "uuid": "m1", "session_id": "theirs", "left_out_bytes": len(large)}
        assert msgspec.json.decode((await texts(coder))["m1"]) == outline


@story
async def test_a59_b56_c30_undo_and_clear_leave_kept_messages_alone(tmp_path: Path) -> None:
    job = steps(uses(effect("a")), Says("done"))
    async with blocking_house(tmp_path, job, verbatim=True) as coder:
        subprocess.run(["git", "init", "-q", coder.folder], check=True)
        await begin(coder)
        (ask,) = await held(coder)
        await coder.answer(ask, Allow())
        await coder.ended()
        before = await texts(coder)
        assert effects(coder) == ["a"]
        await coder.host.send(UndoTurn(session=coder.session, by=ME))
        assert effects(coder) == []
        await coder.prompt("again")
        (_, ask) = await held(coder, 2)
        await coder.answer(ask, Allow())
        await coder.ended(2)
        await coder.host.send(ClearHistory(session=coder.session, by=ME))
        after = await texts(coder)
        assert after.items() >= before.items()
        assert [each["type"] for each in await messages(coder)].count("result") == 2


@story
async def test_b56_marks_are_on_the_events_themselves(tmp_path: Path) -> None:
    """A surface that joins in the middle draws from single events."""
    async with blocking_house(
        tmp_path, steps(Uses(("true",), without_asking=True), Says("done")), verbatim=True
    ) as coder:
        await begin(coder)
        await coder.ended()
        log = [each.event for each in await coder.events()]
        assert [each.verbatim for each in log if isinstance(each, CallEnded | TurnEnded)] == [True, True]
