"""What every agent promises of its turns, its calls and what it asks."""

from collections.abc import Sequence

from coderelay.protocol.asks import Allow, Deny
from coderelay.protocol.calls import Denied, Finished
from coderelay.protocol.events import CallEnded, CallStarted, Recorded, TurnEnded, judged_in
from coderelay.protocol.ids import CallId, SessionId, new_id
from coderelay.testing.agent_suite.check import Process, Subject, check


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
    judged = [verdict for each in log for verdict in judged_in(each.event)]
    return {each.call_id for each in judged if each.need.kind != "read"}


def _ending(log: Sequence[Recorded]) -> str:
    (ended,) = [each.event for each in log if isinstance(each.event, TurnEnded)]
    return ended.ending
