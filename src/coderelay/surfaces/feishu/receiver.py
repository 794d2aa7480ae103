"""Receives the events of the platform, whichever way they come: checks them, keeps them, hands each one over once.

An event is kept with its id before the platform is answered, in the key_values that all bots of an app share. So an
event that is delivered twice, or to two bots, acts once, and one that was received acts even if the process dies
right then: the next sweep of any bot finds it among the unfinished events.
"""

import asyncio
import hmac
import logging
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.ids import new_id
from coderelay.protocol.key_value_store import Change, Entry, KeyValueStore
from coderelay.protocol.wall_clock import now
from coderelay.surfaces.feishu.incoming_event_types import (
    CardClick,
    ChatMessage,
    ClickAnswer,
    Incoming,
    IncomingHandler,
)
from coderelay.surfaces.feishu.parse_event import EventHeader, EventRefused, parse_event

FRESH_MS = 24 * 3600 * 1000
"""How long an event may be under way, and how long its id is remembered at least."""

_FUTURE_MS = 5 * 60 * 1000
_DAY_MS = 24 * 3600 * 1000
CLICK_SECONDS = 2.5
_SWEEP_SECONDS = 5.0
_STOP_SECONDS = 5.0
_TENANT = "tenant"
_WHENEVER = 2**62

log = logging.getLogger(__name__)


class AppIdentity(Struct, frozen=True):
    """Whose events are received. Without a `tenant`, it is the one of the first event."""

    app_id: str
    bot: str
    tenant: str = ""


class _Todo(Struct):
    """An event that is received and not carried out yet, by whom it is being carried out, and until when nobody else
    begins it."""

    incoming: Incoming
    holder: str
    until: int


_todos = msgspec.json.Decoder(_Todo)
_answers = msgspec.json.Decoder(ClickAnswer)


class Receiver:
    """`clock` is in milliseconds."""

    def __init__(
        self,
        identity: AppIdentity,
        key_values: KeyValueStore,
        handler: IncomingHandler,
        clock: Callable[[], int] = now,
        *,
        lease_ms: int,
    ) -> None:
        self._identity = identity
        self._key_values = key_values
        self._handler = handler
        self._clock = clock
        self._lease_ms = lease_ms
        self._me = new_id()
        self._tenant = identity.tenant
        self._chats: dict[str, asyncio.Task[None]] = {}
        self._under_way: set[asyncio.Task[Any]] = set()
        self._mine: set[str] = set()
        self._sweeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._sweeping = asyncio.create_task(self._sweep())

    async def stop(self) -> None:
        """Finish what can be carried out soon. What is left is kept for the next process."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=_STOP_SECONDS)

    async def receive(self, raw: bytes, token: str | None = None) -> dict[str, Any] | None:
        """Receive an event, and return the answer for the platform. `token` is the app's verification token, which
        events over the webhook must carry. Raises EventRefused, and any error of the key-value store; the platform
        then sends the event again."""
        return await asyncio.shield(self._track(self._receive(raw, token)))

    async def receive_or_ignore(self, raw: bytes) -> dict[str, Any] | None:
        """The same for the long connection, where sending a refused event again would not help."""
        try:
            return await self.receive(raw)
        except EventRefused as refusal:
            log.warning("an event is refused (%s)", refusal.reason)
            return None

    async def _receive(self, raw: bytes, token: str | None) -> dict[str, Any] | None:
        until = asyncio.get_running_loop().time() + CLICK_SECONDS
        parsed = parse_event(raw, self._identity.bot)
        if token is not None and not hmac.compare_digest(parsed.header.token.encode(), token.encode()):
            raise EventRefused("token")
        await self._check(parsed.header, parsed.incoming)
        if parsed.incoming is None:
            return None
        entry = _entry_key(parsed.header)
        todo = _Todo(parsed.incoming, self._me, self._clock() + self._lease_ms)
        if not await self._keep(entry, todo):
            return await self._answer_again(entry)
        self._mine.add(entry)
        if isinstance(parsed.incoming, ChatMessage):
            self._queue(parsed.incoming, entry)
            return None
        return await self._answer_click(parsed.incoming, entry, until)

    async def _check(self, header: EventHeader, incoming: Incoming | None) -> None:
        if header.app_id != self._identity.app_id:
            raise EventRefused("app", header.app_id)
        age = self._clock() - header.at
        if not -_FUTURE_MS <= age <= FRESH_MS:
            raise EventRefused("stale", f"{age // 1000} seconds old")
        tenant = await self._own_tenant(header.tenant)
        if header.tenant != tenant or (incoming is not None and incoming.tenant != tenant):
            raise EventRefused("tenant", header.tenant if incoming is None else incoming.tenant)

    async def _own_tenant(self, first: str) -> str:
        """An app of a company's own has one tenant: the one that is configured, or that of its first event."""
        while not self._tenant:
            entry = await self._key_values.read(_TENANT)
            if entry is not None:
                self._tenant = entry.value.decode()
            elif await self._key_values.write(Change(_TENANT, first.encode(), at=0)):
                self._tenant = first
        return self._tenant

    async def _keep(self, entry: str, todo: _Todo) -> bool:
        """Whether the event is new. A message counts once even if it comes in two events."""
        changes = [Change(entry, b"", at=0), Change(f"todo/{entry}", msgspec.json.encode(todo), at=0)]
        if isinstance(todo.incoming, ChatMessage):
            day = entry.split("/")[1]
            changes.append(Change(f"event/{day}/message/{todo.incoming.message_id}", b"", at=0))
        return bool(await self._key_values.write(*changes))

    async def _answer_again(self, entry: str) -> dict[str, Any] | None:
        kept = await self._key_values.read(entry)
        return _encoded(_answers.decode(kept.value)) if kept is not None and kept.value else None

    def _queue(self, message: ChatMessage, entry: str) -> None:
        """Carry it out after what came before it in the same chat."""
        before = self._chats.get(message.chat_id)
        task = self._track(self._carry_out_message(message, entry, before))
        self._chats[message.chat_id] = task
        task.add_done_callback(lambda done: self._left(message.chat_id, done))

    def _left(self, chat_id: str, done: asyncio.Task[None]) -> None:
        if self._chats.get(chat_id) is done:
            del self._chats[chat_id]

    async def _carry_out_message(self, message: ChatMessage, entry: str, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        try:
            await self._handler.message(message)
        except StoreFailed:
            log.exception("a message cannot be carried out now")
            self._mine.discard(entry)  # it is still to do: the sweep finds it when its lease has run out
            return
        except Exception:  # one request of a surface
            log.exception("a message could not be carried out")
        await self._done(entry, b"")

    async def _answer_click(self, click: CardClick, entry: str, until: float) -> dict[str, Any] | None:
        """The platform waits three seconds. What takes longer goes on, and shows in the card. `until` is a time of
        the event loop."""
        answering = self._track(self._carry_out_click(click, entry))
        await asyncio.wait([answering], timeout=max(0.0, until - asyncio.get_running_loop().time()))
        return _encoded(answering.result()) if answering.done() else None

    async def _carry_out_click(self, click: CardClick, entry: str) -> ClickAnswer:
        try:
            answer = await self._handler.click(click)
        except Exception:  # one request of a surface
            log.exception("a click could not be carried out")
            answer = ClickAnswer("error")
        await self._done(entry, msgspec.json.encode(answer))
        return answer

    async def _done(self, entry: str, answer: bytes) -> None:
        """If this cannot be written, the event is handed over again when its lease has run out."""
        try:
            await self._key_values.write(Change(entry, answer), Change(f"todo/{entry}", None))
        except StoreFailed:
            log.exception("an event was carried out, and that could not be written")
        finally:
            self._mine.discard(entry)

    async def _sweep(self) -> None:
        """Take over what another process has left, and forget days that are past."""
        while True:
            try:
                await self._take_over()
                await self.forget()
            except Exception:  # the next round may find the database again
                log.exception("the received events could not be looked through")
            await asyncio.sleep(min(_SWEEP_SECONDS, self._lease_ms / 1000))

    async def _take_over(self) -> None:
        now = self._clock()
        left = [(_todos.decode(kept.value), kept) for kept in await self._key_values.list("todo/")]
        for todo, kept in sorted(left, key=lambda each: each[0].incoming.at):
            entry = kept.key.removeprefix("todo/")
            if entry in self._mine:
                await self._claim(kept, todo)  # it takes longer than a lease
            elif todo.until < now and await self._claim(kept, todo):
                self._mine.add(entry)
                if isinstance(todo.incoming, ChatMessage):
                    self._queue(todo.incoming, entry)
                else:
                    self._track(self._carry_out_click(todo.incoming, entry))

    async def _claim(self, kept: Entry, todo: _Todo) -> bool:
        mine = replace(todo, holder=self._me, until=self._clock() + self._lease_ms)
        return bool(await self._key_values.write(Change(kept.key, msgspec.json.encode(mine), at=kept.version)))

    async def forget(self) -> None:
        """Forget a day that is past. An id is kept for two days at least, so that no fresh event acts twice."""
        for kept in await self._key_values.list("event/", limit=1):
            day = kept.key.split("/")[1]
            if int(day) < self._clock() // _DAY_MS - 2:
                await self._key_values.erase(f"event/{day}/", before=_WHENEVER)

    def _track(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task


def _entry_key(header: EventHeader) -> str:
    """By the day of the event itself: a repetition after midnight has the same key."""
    return f"event/{header.at // _DAY_MS:06d}/{header.event_id}"


def _encoded(answer: ClickAnswer) -> dict[str, Any]:
    """A click's answer as the platform reads it."""
    encoded: dict[str, Any] = {}
    if answer.toast:
        encoded["toast"] = {"type": answer.toast_kind, "content": answer.toast}
    if answer.card is not None:
        encoded["card"] = {"type": "raw", "data": answer.card}
    return encoded
