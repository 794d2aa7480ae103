"""Brings a web client up to date with a session: its history, or all that came after the client's cursor."""

import sys
from contextlib import aclosing

from coderelay.client.client import Client
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import Recorded, TurnEnded, TurnStarted, asks_in
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import AskRow, Summary
from coderelay.protocol.queries import ListAsks, ListDecisions, ListPrompts, ReadMessages, ShowSession
from coderelay.protocol.translatable import say
from coderelay.surfaces.web.all_sessions_broadcast import EventBroadcast
from coderelay.surfaces.web.client_event_types import FollowPayload
from coderelay.surfaces.web.client_send_queue import ClientSendQueue
from coderelay.surfaces.web.outgoing_event_json import event_text, session_history
from coderelay.surfaces.web.session_frames import Frame, SessionFrames

_LOOK_BACK = (256, 4096, sys.maxsize)


async def send_history(
    connection: ClientSendQueue, client: Client, broadcast: EventBroadcast, session: SessionId
) -> None:
    """The history, then the asks that are open, then the text that is being written; what happens meanwhile comes
    after that, and nothing of it twice."""
    connection.pause_session(session)
    frames: list[Frame] = []
    shown: int | None = None
    try:
        messages = await client.get(ReadMessages(session))
        summary = await client.get(ShowSession(session))  # its status may be newer, never older
        requests = [await ask_frame(broadcast, each) for each in await client.get(ListAsks(session))]
        queue = await client.get(ListPrompts(session)) if summary.queued else []
        decided = await client.get(ListDecisions(session))
        view = await broadcast.wait_until_shown(session, messages.seq)
        shown = messages.seq
        await broadcast.waiting.take_up(summary)
        text = session_history(summary, messages.rows, shown, queue, decided, broadcast.more_of(summary))
        history = Frame(text, session, shown)
        frames = [history, *filter(None, requests), *(view.saying() if view is not None else [])]
    finally:
        connection.release(session, frames, shown)


async def follow(
    connection: ClientSendQueue, client: Client, broadcast: EventBroadcast, wanted: FollowPayload
) -> None:
    """The events after the client's cursor and the asks of children, between `session.following` and
    `session.followed`; then what happens from now on. What a new connection was shown of the session before that
    comes again, so a client that follows ignores it."""
    session, after = SessionId(wanted.session_id), wanted.after_seq
    connection.pause_session(session)
    frames: list[Frame] = []
    shown: int | None = None
    try:
        summary = await client.get(ShowSession(session))
        seq = summary.head
        if after > seq:
            raise BadInput(
                say("the log of the session ends at {number}; {after} is beyond that", number=seq, after=after)
            )
        replayed = [] if after == seq else await _replay(client, broadcast, summary, after)
        first_parts = sum(frame.seq == replayed[0].seq for frame in replayed) if replayed else 0
        if wanted.after_part > first_parts:
            raise BadInput(
                say(
                    "afterPart is {number}, but the next event has only {count} parts",
                    count=first_parts,
                    number=wanted.after_part,
                )
            )
        asks = [each for each in await client.get(ListAsks(session)) if each.session != session]
        requests = [await ask_frame(broadcast, each) for each in asks]
        view = await broadcast.wait_until_shown(session, seq)
        first = Frame(event_text("session.following", {"sessionId": session, "seq": after}), session, after)
        last = Frame(event_text("session.followed", {"sessionId": session, "seq": seq}), session, seq)
        frames = [first, *replayed[wanted.after_part :], *filter(None, requests), last]
        frames += view.saying() if view is not None else []
        shown = seq
    finally:
        connection.release(session, frames, shown, anew=True)


async def ask_frame(broadcast: EventBroadcast, row: AskRow) -> Frame | None:
    """The open ask as clients are asked; None if its session does not exist any more."""
    view = await broadcast.view(row.session)
    if view is None:
        return None
    await broadcast.add_call_arguments(row.session, view, [row.ask])
    return view.request(row.ask)


async def _replay(client: Client, broadcast: EventBroadcast, summary: Summary, after: int) -> list[Frame]:
    """The frames of the events after the cursor, up to the head that the summary has. They are the same that clients
    were shown at the time, so the view begins with what was open then: the turn and its asks."""
    view = SessionFrames(summary, [])
    for each in await _since_the_turn_began(client, summary.id, after):
        view.apply_without_showing(each)
    frames: list[Frame] = []
    for each in await _events(client, summary.id, after, summary.head):
        await broadcast.add_call_arguments(summary.id, view, asks_in(each.event))
        frames += [frame for frame in view.frames(each) if not frame.live]
    return frames


async def _since_the_turn_began(client: Client, session: SessionId, cursor: int) -> list[Recorded]:
    """Some events up to the cursor, with the beginning or end of a turn among them, or else all."""
    found: list[Recorded] = []
    for back in _LOOK_BACK:
        begin = max(cursor - back, 0)
        found = await _events(client, session, begin, cursor)
        if begin == 0 or any(isinstance(each.event, TurnStarted | TurnEnded) for each in found):
            break
    return found


async def _events(client: Client, session: SessionId, after: int, until: int) -> list[Recorded]:
    found: list[Recorded] = []
    if after >= until:
        return found
    async with aclosing(client.follow(session, after)) as events:
        async for each in events:
            if isinstance(each, Recorded):
                found.append(each)
                if each.seq >= until:
                    break
    return found
