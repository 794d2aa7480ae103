"""The server's one feed of all sessions, given to every client in the same order."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import aclosing, suppress
from typing import Literal

from msgspec import Struct

from coderelay.client.client import Client
from coderelay.client.views.cowork_message_parser import blocks_of, read_message
from coderelay.protocol.asks import Ask, By
from coderelay.protocol.errors import CoderError, UnknownSession
from coderelay.protocol.events import CallProposed, Recorded, SessionDeleted, asks_in
from coderelay.protocol.ids import AskId, CallId, SessionId
from coderelay.protocol.live_updates import Live
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListAsks, ListChildren, ListSessions, ReadMessages, ShowSession
from coderelay.surfaces.web.client_connections import ClientConnections
from coderelay.surfaces.web.outgoing_event_json import Payload, event_text, retold
from coderelay.surfaces.web.session_frames import Frame, SessionFrames
from coderelay.surfaces.web.sessions_waiting_for_host import SessionsWaitingForHost

log = logging.getLogger(__name__)

_REACH_SECONDS = 2.0
_AGAIN_SECONDS = 1.0
_ALL = 1_000_000
_JUST_CREATED = 100  # more sessions than anybody creates while the server starts

InputWhileRunning = Literal["queue", "steer", "stop", "ignore"]


class BroadcastOptions(Struct, frozen=True):
    """`cwd` is the folder of a session that is started without one. `input_while_running` is what Enter does while a
    session works; pages are told."""

    cwd: str
    input_while_running: InputWhileRunning = "queue"


class EventBroadcast:
    def __init__(self, client: Client, by: By, options: BroadcastOptions) -> None:
        self._client = client
        self._options = options
        self.connections = ClientConnections()
        self._views: dict[SessionId, SessionFrames] = {}
        self._busy: set[SessionId] = set()  # the sessions with an open turn
        self._cursors: dict[SessionId, int] = {}  # the last event of each session that was shown
        self._children: set[SessionId] = set()
        self._waiters: list[tuple[SessionId, int, asyncio.Event]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.waiting = SessionsWaitingForHost(client, by)

    async def start(self) -> None:
        """Begin to follow all sessions, and take up those that have something to do."""
        with_work = await self._learn_cursors(are_new=False)
        for row in await self._client.get(ListAsks()):
            self._busy.add(row.session)
            await self.view(row.session)  # with its asks, so that their answers are understood
        self._tasks = [
            asyncio.create_task(self._follow(_JUST_CREATED)),
            asyncio.create_task(self.connections.tell_statistics()),
            asyncio.create_task(self.waiting.watch(self._busy, self.connections)),
        ]
        for each in with_work:
            await self.waiting.run_here(each.id)

    async def _learn_cursors(self, *, are_new: bool, limit: int = _ALL) -> list[Summary]:
        """Find the sessions that are not known yet, among the newest. If they `are_new`, nothing of them was shown;
        else they are followed from here on. Returns those that have something to do."""
        found = await self._client.get(ListSessions(limit=limit))
        for each in found:
            self._learn_cursor(each, is_new=are_new)
            if each.turn_open and each.children:
                with suppress(UnknownSession):
                    for child in await self._client.get(ListChildren(each.id)):
                        self._learn_cursor(child, is_new=are_new)
        return [each for each in found if each.turn_open or each.queued or each.open_asks]

    def _learn_cursor(self, summary: Summary, *, is_new: bool) -> None:
        if summary.id not in self._cursors:
            self._cursors[summary.id] = 0 if is_new else summary.head
            if summary.turn_open and not is_new:
                self._busy.add(summary.id)

    async def close(self) -> None:
        self.connections.ide.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self, limit: int) -> None:
        """Show what happens, also of those of the `limit` newest sessions that are not known yet. If the feed breaks
        off, go on after what was shown."""
        while True:
            try:
                await self._learn_cursors(are_new=True, limit=limit)
                async with aclosing(self._client.follow_all(self._cursors)) as events:
                    async for session, each in events:
                        await self._show(session, each)
            except Exception:  # whatever it was, clients must not be left without a feed
                log.exception("the feed of all sessions broke off")
            await asyncio.sleep(_AGAIN_SECONDS)
            limit = _ALL
            for view in self._views.values():
                view.forget_live()

    async def _show(self, session: SessionId, each: Recorded | Live) -> None:
        try:
            await self._show_one(session, each)
        except CoderError:
            raise  # the log cannot be read now; this event is shown when it can
        except Exception:
            log.exception("an event of the session %s cannot be shown", session)
        self.waiting.note_activity(session)
        if isinstance(each, Recorded):
            self._cursors[session] = each.seq
            if isinstance(each.event, SessionDeleted):
                self._forget(session)

    def _forget(self, session: SessionId) -> None:
        self._cursors.pop(session, None)
        self._children.discard(session)
        self._views.pop(session, None)
        self._busy.discard(session)
        self.waiting.forget(session)

    async def _show_one(self, session: SessionId, each: Recorded | Live) -> None:
        view = await self.view(session)
        if view is None:
            is_known = session not in self._children  # clients do not know children
            if is_known and isinstance(each, Recorded) and isinstance(each.event, SessionDeleted):
                self.connections.publish(
                    [Frame(event_text("session.deleted", {"sessionId": session}), session, each.seq)]
                )
            return
        if isinstance(each, Recorded) and not isinstance(each.event, CallProposed):
            await self.add_call_arguments(session, view, asks_in(each.event))
        self.connections.publish(view.frames(each))
        await self.connections.let_read()
        (self._busy.add if view.is_turn_open else self._busy.discard)(session)
        if view.is_at_rest:
            self._views.pop(session, None)
        for waited, seq, reached in self._waiters:
            if waited == session and self._has_reached(session, seq):
                reached.set()

    async def view(self, session: SessionId) -> SessionFrames | None:
        """What clients are shown of a session; None if it does not exist any more."""
        if (known := self._views.get(session)) is not None:
            return known
        try:
            summary = await self._client.get(ShowSession(session))
            parents = await self._parents(summary)
        except UnknownSession:
            return None
        if parents:
            self._children.add(session)
        view = SessionFrames(summary, parents, is_turn_open=session in self._busy)
        return self._views.setdefault(session, view)

    async def add_call_arguments(self, session: SessionId, view: SessionFrames, asks: Iterable[Ask]) -> None:
        """Let a view know the arguments of the calls that these asks are about."""
        if missing := view.unknown_uses(asks):
            with suppress(UnknownSession):
                view.add_call_arguments(await self._tool_uses(session, missing))

    def ask_about(self, session: SessionId, tool_use: str) -> AskId | None:
        """The ask of an open turn about a tool use that clients know in this session, also if it is answered."""
        found = (view.ask_about(tool_use) for view in self._views.values() if view.shown_as == session)
        return next(filter(None, found), None)

    async def wait_until_shown(self, session: SessionId, seq: int) -> SessionFrames | None:
        """Wait until the clients have been shown this event. Returns the session's view, if one is in use."""
        if not self._has_reached(session, seq):
            waiter = (session, seq, asyncio.Event())
            self._waiters.append(waiter)
            with suppress(TimeoutError):
                async with asyncio.timeout(_REACH_SECONDS):
                    await waiter[2].wait()
            self._waiters.remove(waiter)
        return self._views.get(session)

    def _has_reached(self, session: SessionId, seq: int) -> bool:
        view = self._views.get(session)
        return view is None or view.seq >= seq

    async def _parents(self, summary: Summary) -> list[SessionId]:
        parents: list[SessionId] = []
        while summary.parent is not None:
            parents.append(summary.parent)
            summary = await self._client.get(ShowSession(summary.parent))
        return parents

    async def _tool_uses(self, session: SessionId, calls: Sequence[CallId]) -> dict[CallId, Payload]:
        found: dict[CallId, Payload] = {}
        for row in reversed((await self._client.get(ReadMessages(session))).rows):
            if any(call in row.data for call in calls):
                uses = [each for each in blocks_of(read_message(row.data)) if each.get("type") == "tool_use"]
                found |= {CallId(each["id"]): each for each in uses if each.get("id") in calls}
            if len(found) == len(calls):
                break
        return found

    def more_of(self, summary: Summary) -> Payload:
        """What a row says besides the log: what Enter does while the session works, and why nobody works on it."""
        enter = "stop" if summary.profile == "cowork" else self._options.input_while_running
        reason = self.waiting.reason(summary.id) if summary.turn_open or summary.queued else None
        return {"inputWhileRunning": enter} | ({} if reason is None else {"waiting": reason, **retold(reason)})
