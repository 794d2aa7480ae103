"""Brings a web client up to date with a session: its history, or all that came after the client's cursor."""

from typing import TYPE_CHECKING

from coderelay.client.client import Client
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import AskRow
from coderelay.protocol.queries import ListAsks, ListDecisions, ListPrompts, ReadMessages, ShowSession
from coderelay.surfaces.web.client_send_queue import ClientSendQueue
from coderelay.surfaces.web.incoming_client_events import FollowPayload
from coderelay.surfaces.web.missed_frames import replay
from coderelay.surfaces.web.outgoing_server_events import event_text, session_history
from coderelay.surfaces.web.session_frames import Frame

if TYPE_CHECKING:
    from coderelay.surfaces.web.hub import EventHub


async def send_history(connection: ClientSendQueue, client: Client, hub: "EventHub", session: SessionId) -> None:
    """The history, then the asks that are open, then the text that is being written; what happens meanwhile comes
    after that, and nothing of it twice."""
    connection.hold(session)
    frames: list[Frame] = []
    shown: int | None = None
    try:
        messages = await client.get(ReadMessages(session))
        summary = await client.get(ShowSession(session))  # its status may be newer, never older
        requests = [await ask_frame(hub, each) for each in await client.get(ListAsks(session))]
        queue = await client.get(ListPrompts(session)) if summary.queued else []
        decided = await client.get(ListDecisions(session))
        view = await hub.reached(session, messages.seq)
        shown = messages.seq
        await hub.take_up(summary)
        text = session_history(summary, messages.rows, shown, queue, decided, hub.more_of(summary))
        history = Frame(text, session, shown)
        frames = [history, *filter(None, requests), *(view.saying() if view is not None else [])]
    finally:
        connection.release(session, frames, shown)


async def follow(connection: ClientSendQueue, client: Client, hub: "EventHub", wanted: FollowPayload) -> None:
    """The events after the client's cursor and the asks of children, between `session.following` and
    `session.followed`; then what happens from now on. What a new connection was shown of the session before that
    comes again, so a client that follows ignores it."""
    session, after = SessionId(wanted.session_id), wanted.after_seq
    connection.hold(session)
    frames: list[Frame] = []
    shown: int | None = None
    try:
        summary = await client.get(ShowSession(session))
        seq = summary.head
        if after > seq:
            raise BadInput(f"the log of the session ends at {seq}; {after} is beyond that")
        replayed = [] if after == seq else await replay(client, hub, summary, after)
        first_parts = sum(frame.seq == replayed[0].seq for frame in replayed) if replayed else 0
        if wanted.after_part > first_parts:
            raise BadInput(f"the next event has {first_parts} parts, not {wanted.after_part}")
        asks = [each for each in await client.get(ListAsks(session)) if each.session != session]
        requests = [await ask_frame(hub, each) for each in asks]
        view = await hub.reached(session, seq)
        first = Frame(event_text("session.following", {"sessionId": session, "seq": after}), session, after)
        last = Frame(event_text("session.followed", {"sessionId": session, "seq": seq}), session, seq)
        frames = [first, *replayed[wanted.after_part :], *filter(None, requests), last]
        frames += view.saying() if view is not None else []
        shown = seq
    finally:
        connection.release(session, frames, shown, anew=True)


async def ask_frame(hub: "EventHub", row: AskRow) -> Frame | None:
    """The open ask as clients are asked; None if its session does not exist any more."""
    view = await hub.view(row.session)
    if view is None:
        return None
    await hub.learn(row.session, view, [row.ask])
    return view.request(row.ask)
