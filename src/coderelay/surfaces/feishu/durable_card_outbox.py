"""The outbox in the key-value store: a card is sent again until the platform has accepted it, by any bot that is
running."""

import asyncio
import logging
import random
from collections.abc import Callable
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from coderelay.protocol.ids import new_id
from coderelay.protocol.key_value_store import Change, Entry, KeyValueStore
from coderelay.protocol.wall_clock import now
from coderelay.surfaces.feishu.card_outbox_interface import (
    CARDS,
    DEAD,
    MESSAGES,
    UNSENT,
    Card,
    CardRecord,
    ChatPlace,
    DeadLetter,
    decode_record,
    wants_streaming,
)
from coderelay.surfaces.feishu.card_sender import CardSender, SentCard
from coderelay.surfaces.feishu.lark_api import PlatformError
from coderelay.surfaces.feishu.rate_limits import call_limits, card_limit

_LEASE_MS = 20_000
_SWEEP_SECONDS = 5.0
_OTHER_BOT_SECONDS = 0.5
_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 500, 60_000
_TRIED_MS = 3600 * 1000  # the platform recognises a repeated message for an hour
_KEPT_MS = 15 * 24 * 3600 * 1000  # a message can be changed for 14 days
_UNKNOWN_ATTEMPTS = 3
_ERASE_EVERY_MS = 3600 * 1000

log = logging.getLogger(__name__)


class DurableCardOutbox:
    """A CardOutbox; see card_outbox_interface.py for the contract. `clock` is in milliseconds, `pace` is that
    of BotTiming."""

    def __init__(
        self,
        key_values: KeyValueStore,
        sender: CardSender,
        clock: Callable[[], int] = now,
        lease_ms: int = _LEASE_MS,
        pace: float = 1.0,
    ) -> None:
        self._key_values = key_values
        self._sender = sender
        self._clock = clock
        self._lease_ms = lease_ms
        self._pace = pace
        self._me = new_id()
        self._last_created = 0
        self._order = _MessageOrder()
        self._sending: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._texts: dict[str, str] = {}
        self._streams: dict[str, asyncio.Task[None]] = {}
        self._sweeping: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    def start(self) -> None:
        self._sweeping = asyncio.create_task(self._sweep())

    async def stop(self, seconds: float = 3.0) -> None:
        """Send what can be sent within this time. The rest is kept for the next process."""
        self._stopping.set()
        ended = [*self._streams.values(), *([self._sweeping] if self._sweeping is not None else [])]
        for task in ended:
            task.cancel()
        if self._sending:
            await asyncio.wait([*self._sending.values()], timeout=seconds)
        left = [*self._sending.values()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, *ended, return_exceptions=True)

    async def show(self, key: str, place: ChatPlace, card: Card) -> None:
        if not wants_streaming(card):
            self._texts.pop(key, None)
        while True:
            entry, record = await self._load(key)
            if record is not None and record.card == card and not record.is_dead:
                break
            marks = (Change(UNSENT + key, b""), Change(DEAD + key, None))
            if await self._write(key, entry, self._wanting(record, place, card), *marks):
                if record is None:
                    self._order.enter(key, place.chat_id)
                break
        self._wake(key)

    def stream(self, key: str, text: str) -> None:
        self._texts[key] = text
        if key not in self._streams and not self._stopping.is_set():
            task = asyncio.create_task(self._stream(key), name=f"stream {key}")
            self._streams[key] = task
            task.add_done_callback(lambda _: self._streams.pop(key, None))

    async def message_of(self, key: str) -> str | None:
        _, record = await self._load(key)
        return record.message_id or None if record is not None else None

    async def key_of(self, message_id: str) -> str | None:
        entry = await self._key_values.read(MESSAGES + message_id)
        return entry.value.decode() if entry is not None else None

    async def card_of(self, key: str) -> Card | None:
        _, record = await self._load(key)
        return record.card if record is not None else None

    def _wanting(self, record: CardRecord | None, place: ChatPlace, card: Card) -> CardRecord:
        """The record with a new state of the card. This bot sends it, unless another is at it."""
        now = self._clock()
        if record is None:
            self._last_created = max(
                now, self._last_created + 1
            )  # two messages of one millisecond have an order, too
            return CardRecord(place, card, self._last_created, holder=self._me, until=now + self._lease_ms)
        wanting = replace(
            record, card=card, wanted=record.wanted + 1, attempts=0, trying_since=0, not_before=0, is_dead=False
        )
        if record.is_sent or record.is_dead or record.holder == self._me or record.until < now:
            wanting = replace(wanting, holder=self._me, until=now + self._lease_ms)
        return wanting

    async def _load(self, key: str) -> tuple[Entry | None, CardRecord | None]:
        entry = await self._key_values.read(CARDS + key)
        return entry, None if entry is None else decode_record(entry.value)

    async def _write(self, key: str, entry: Entry | None, record: CardRecord, *more: Change) -> bool:
        version = 0 if entry is None else entry.version
        change = Change(CARDS + key, msgspec.json.encode(record), at=version)
        return bool(await self._key_values.write(change, *more))

    def _wake(self, key: str) -> None:
        if self._stopping.is_set():
            return
        if key in self._sending:
            self._again.add(key)
            return
        task = asyncio.create_task(self._send_all(key), name=f"send {key}")
        self._sending[key] = task
        task.add_done_callback(lambda _: self._on_send_task_done(key))

    def _on_send_task_done(self, key: str) -> None:
        self._sending.pop(key, None)
        if key in self._again:
            self._again.discard(key)
            self._wake(key)

    async def _send_all(self, key: str) -> None:
        try:
            await self._order.turn(key)
            while await self._send_once(key) or await self._let_other_bot_send(key):
                pass
        except Exception:  # one request of the surface; the sweep tries again
            log.exception("a card could not be sent")
        finally:
            self._order.leave(key)

    async def _send_once(self, key: str) -> bool:
        """Send the newest state of a card, if this bot is to do it. Returns whether there may be more to do."""
        if (held := await self._hold(key)) is None:
            return False
        _, record = held
        if (pause := record.not_before - self._clock()) > 0:
            return await self._pause(pause / 1000)
        await self._sender.pause(*self._sender.limits_of(record))
        if (held := await self._hold(key)) is None:
            return False
        entry, record = held  # a newer state may have come
        try:
            if not record.message_id and not record.has_entity and wants_streaming(record.card):
                made = replace(record, card_id=await self._sender.create_card(record), has_entity=True)
                await self._write(key, entry, made)
                return True
            sent = await self._sender.send(key, record)
        except PlatformError as error:
            await self._failed(key, record, error)
        else:
            await self._sent(key, record, sent)
        return True

    async def _hold(self, key: str) -> tuple[Entry, CardRecord] | None:
        """The newest state of a card, with a lease that lasts until it is sent. None if there is nothing to send, or
        another bot is at it."""
        while True:
            entry, record = await self._load(key)
            if entry is None or record is None or record.is_sent or record.is_dead:
                return None
            now = self._clock()
            if record.holder != self._me and record.until > now:
                return None
            if record.holder == self._me and record.until >= now + self._lease_ms // 2:
                return entry, record
            await self._write(key, entry, replace(record, holder=self._me, until=now + self._lease_ms))

    async def _let_other_bot_send(self, key: str) -> bool:
        """Whether another bot holds this new message, after some time for it: what comes after the message in its
        chat must not be sent before it."""
        _, record = await self._load(key)
        if record is None or record.message_id or record.is_sent or record.is_dead or record.holder == self._me:
            return False
        left = max(0.0, (record.until - self._clock()) / 1000)
        return await self._pause(min(left, _OTHER_BOT_SECONDS))

    async def _pause(self, seconds: float) -> bool:
        """Whether the time has passed. A bot that is stopping does not wait."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        return not self._stopping.is_set()

    async def _sent(self, key: str, sent_record: CardRecord, sent: SentCard) -> None:
        while True:
            entry, record = await self._load(key)
            if record is None:
                return
            is_old = record.shown > sent_record.wanted  # another bot has shown newer, and it may be replaced now
            settled = replace(
                record,
                shown=0 if is_old else max(record.shown, _shown_by(sent_record)),
                message_id=sent.message_id,
                card_id=sent.card_id,
                is_streaming=sent.is_streaming,
                attempts=0,
                trying_since=0,
                error="",
            )
            more = [Change(MESSAGES + sent.message_id, key.encode())] if not sent_record.message_id else []
            if settled.is_sent:
                settled = replace(settled, holder="", until=0)
            more.append(Change(UNSENT + key, None if settled.is_sent else b""))
            if await self._write(key, entry, settled, *more):
                self._order.leave(key)
                break
        if sent.is_streaming and key in self._texts:
            self.stream(key, self._texts[key])  # it came before the card was there

    async def _failed(self, key: str, sent_record: CardRecord, error: PlatformError) -> None:
        while True:
            entry, record = await self._load(key)
            if record is None or record.is_sent:
                return  # another bot has sent it
            now = self._clock()
            failed = replace(
                record,
                attempts=record.attempts + 1,
                trying_since=record.trying_since or now,
                error=str(error)[:500],
                not_before=now + _pause_ms(record.attempts, error, self._pace),
            )
            more: list[Change] = []
            if record.wanted == sent_record.wanted and _is_undeliverable(failed, error, now):
                failed = replace(failed, is_dead=True, holder="", until=0)
                letter = DeadLetter(key, record.place.chat_id, failed.error, now)
                more = [Change(UNSENT + key, None), Change(DEAD + key, msgspec.json.encode(letter))]
            if await self._write(key, entry, failed, *more):
                log.warning("a card is not accepted (%s)%s", error, ", and is given up" if failed.is_dead else "")
                return

    async def _stream(self, key: str) -> None:
        """Show the newest text again and again. Texts in between are dropped."""
        while key in self._texts:
            _, record = await self._load(key)
            if record is None or not record.is_streaming or not wants_streaming(record.card):
                return  # it is not sent yet, or is no card to stream to; newer text tries again
            await self._sender.pause(card_limit(record.card_id), *call_limits("content"))
            text = self._texts.pop(key, None)
            if text is None:
                return
            try:
                await self._stream_text(key, record, text)
            except PlatformError as error:
                log.info("streamed text is dropped: %s", error)

    async def _stream_text(self, key: str, record: CardRecord, text: str) -> None:
        try:
            await self._sender.stream(record, text)
        except PlatformError as error:
            _, now = await self._load(key)
            if error.kind != "not streaming" or now is None or not wants_streaming(now.card):
                raise  # the card is shown whole by now, and must not begin to stream again
            await self._sender.begin_streaming(record)
            await self._sender.stream(record, text)

    async def _take_over(self) -> None:
        """Send what is left, new messages in the order in which they were made."""
        keys = [entry.key.removeprefix(UNSENT) for entry in await self._key_values.list(UNSENT)]
        found = [(key, (await self._load(key))[1]) for key in keys if key not in self._sending]
        left = [(record.created, key, record) for key, record in found if record is not None]
        for _, key, record in sorted(left, key=lambda each: each[:2]):
            if not record.message_id:
                self._order.enter(key, record.place.chat_id)
            self._wake(key)

    async def _sweep(self) -> None:
        """Take over what another process has left, and forget what cannot be changed any more."""
        erased = 0
        while True:
            try:
                await self._take_over()
                if (now := self._clock()) - erased > _ERASE_EVERY_MS:
                    for beginning in (CARDS, MESSAGES, DEAD, UNSENT):
                        await self._key_values.erase(beginning, before=now - _KEPT_MS)
                    erased = now
            except Exception:  # the next round may find the database again
                log.exception("the outbox could not be looked through")
            await asyncio.sleep(min(_SWEEP_SECONDS, self._lease_ms / 1000))


def _shown_by(sent: CardRecord) -> int:
    """The state that the platform shows after a card was sent. A new message may be one that was sent before, whose
    answer was lost: then it shows what the card looked like at that time."""
    return sent.wanted if sent.message_id or sent.wanted == 1 else 0


def _pause_ms(attempts: int, error: PlatformError, pace: float) -> int:
    longest = min(_FIRST_PAUSE_MS * 2 ** min(attempts, 10), _LONGEST_PAUSE_MS) * pace
    return max(int(longest * random.uniform(0.5, 1.0)), int(error.retry_after * 1000))


def _is_undeliverable(record: CardRecord, error: PlatformError, now: int) -> bool:
    if error.is_retryable:
        return now - record.trying_since > _TRIED_MS
    if error.kind in ("gone", "permission", "refused") and error.code:
        return True
    return record.attempts >= _UNKNOWN_ATTEMPTS


class _MessageOrder:
    """Those of one chat are sent in the order in which they came, one after the other. Without it, a short message
    would overtake the one before it, for which two calls are needed."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}  # the key of the last message of each chat
        self._chats: dict[str, str] = {}
        self._sent: dict[str, asyncio.Event] = {}
        self._before: dict[str, asyncio.Event] = {}

    def enter(self, key: str, chat_id: str) -> None:
        """A new message comes after those that have entered before it."""
        if key in self._sent:
            return
        before = self._sent.get(self._last.get(chat_id, ""))
        if before is not None:
            self._before[key] = before
        self._sent[key] = asyncio.Event()
        self._chats[key] = chat_id
        self._last[chat_id] = key

    async def turn(self, key: str) -> None:
        """Wait until the message before this one has left."""
        if (before := self._before.get(key)) is not None:
            await before.wait()

    def leave(self, key: str) -> None:
        """The message is sent, or will not be sent by this bot for now."""
        self._before.pop(key, None)
        if (sent := self._sent.pop(key, None)) is not None:
            sent.set()
            chat_id = self._chats.pop(key)
            if self._last.get(chat_id) == key:
                del self._last[chat_id]
