"""What every agent promises of its turns, its calls and what it asks."""

from collections.abc import Sequence

import msgspec

from coderelay.client.views.cowork_message_parser import blocks_of
from coderelay.protocol.asks import Allow, Deny
from coderelay.protocol.calls import Denied, Finished
from coderelay.protocol.events import CallEnded, CallStarted, Judged, MessageKept, Recorded, TurnEnded, judged_in
from coderelay.protocol.ids import CallId, SessionId, new_id
from coderelay.testing.agent_suite.check_framework import Process, Subject, check


@check
async def a_turn_ends_once(subject: Subject) -> None:
    async with subject.open_process() as client:
        process = Process(client, subject, SessionId(new_id()))
        await process.prompt(subject.speaks)
        log = await process.ended()
        assert _ending(log) == "done"
        assert not subject.has_written()


@check
async def a_call_starts_only_when_it_is_allowed(subject: Subject) -> None:
    async with subject.open_process() as client:
        process = Process(client, subject, SessionId(new_id()))
        await process.prompt(subject.writes)
        ask = await process.asked()
        assert not subject.has_written()
        await process.answer(ask, Allow())
        log = await process.ended()
        assert (_ending(log), subject.has_written()) == ("done", True)
        _check_calls(log)
        assert [type(each.outcome) for each in _ends(log)] == [Finished]


@check
async def a_denied_call_has_no_effect(subject: Subject) -> None:
    async with subject.open_process() as client:
        process = Process(client, subject, SessionId(new_id()))
        await process.prompt(subject.writes)
        await process.answer(await process.asked(), Deny("not now"))
        log = await process.ended()
        assert (_ending(log), subject.has_written()) == ("done", False)
        assert _starts(log) == []
        assert [each.outcome for each in _ends(log)] == [Denied("not now")]


@check
async def an_answer_from_another_process_counts(subject: Subject) -> None:
    async with subject.open_process() as client, subject.open_process() as elsewhere:
        process = Process(client, subject, SessionId(new_id()))
        await process.prompt(subject.writes)
        ask = await process.asked()
        await Process(elsewhere, subject, process.session).answer(ask, Allow())
        log = await process.ended()
        assert (_ending(log), subject.has_written()) == ("done", True)
        _check_calls(log)


@check
async def a_stop_ends_a_turn_that_waits(subject: Subject) -> None:
    async with subject.open_process() as client:
        process = Process(client, subject, SessionId(new_id()))
        await process.prompt(subject.writes)
        await process.asked()
        await process.stop()
        log = await process.ended()
        assert (_ending(log), subject.has_written()) == ("stopped", False)
        assert _starts(log) == []


@check
async def an_ask_outlives_the_process_that_asked(subject: Subject) -> None:
    """The answer is given in another process, when the first is gone; the call is then made once."""
    session = SessionId(new_id())
    async with subject.open_process() as client:
        process = Process(client, subject, session)
        await process.prompt(subject.writes)
        ask = await process.asked()
    async with subject.open_process() as client:
        process = Process(client, subject, session)
        await process.open()
        await process.answer(ask, Allow())
        log = await process.ended()
        assert (_ending(log), subject.has_written()) == ("done", True)
        assert len(_starts(log)) == 1
        _check_calls(log)


@check
async def what_happens_is_one_message(subject: Subject) -> None:
    """Whether the agent hands in its own messages or not: a turn begins with the prompt and `system:init`, has each
    call and each result once, and ends with one `result`. What was handed in comes back byte for byte."""
    async with subject.open_process() as client:
        process = Process(client, subject, SessionId(new_id()))
        await process.prompt(subject.writes)
        await process.answer(await process.asked(), Allow())
        log = await process.ended()
        rows = await process.messages()
        messages = [msgspec.json.decode(row.data) for row in rows]
        kinds = [each["type"] for each in messages if each["type"] != "stream_event"]
        assert (kinds[0], kinds[-1]) == ("user_prompt", "result")
        assert (kinds.count("user_prompt"), kinds.count("result")) == (1, 1)
        assert [each.get("subtype") for each in messages].count("init") == 1
        blocks = [block for each in messages for block in blocks_of(each)]
        called = [each["id"] for each in blocks if each["type"] == "tool_use"]
        ended = [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"]
        assert called == [each.call_id for each in _all_judged(log)]
        assert sorted(ended) == sorted(called)
        kept = [each.event for each in log if isinstance(each.event, MessageKept) and each.event.form == "cowork"]
        texts = {row.id: row.data for row in rows}
        assert [texts[each.message_id] for each in kept] == [each.data for each in kept]


def _check_calls(log: Sequence[Recorded]) -> None:
    """A call starts before it ends, and each once."""
    started = [each.call_id for each in _starts(log)]
    ended = [each.call_id for each in _ends(log)]
    assert len({*started}) == len(started)
    assert len({*ended}) == len(ended)
    assert {*started} <= {*ended}


def _starts(log: Sequence[Recorded]) -> list[CallStarted]:
    writing = _writing(log)
    return [each.event for each in log if isinstance(each.event, CallStarted) and each.event.call_id in writing]


def _ends(log: Sequence[Recorded]) -> list[CallEnded]:
    writing = _writing(log)
    return [each.event for each in log if isinstance(each.event, CallEnded) and each.event.call_id in writing]


def _writing(log: Sequence[Recorded]) -> set[CallId]:
    """The calls that do more than read: an agent may look at a file before it writes it."""
    return {each.call_id for each in _all_judged(log) if each.need.kind != "read"}


def _all_judged(log: Sequence[Recorded]) -> list[Judged]:
    return [verdict for each in log for verdict in judged_in(each.event)]


def _ending(log: Sequence[Recorded]) -> str:
    (ended,) = [each.event for each in log if isinstance(each.event, TurnEnded)]
    return ended.ending
