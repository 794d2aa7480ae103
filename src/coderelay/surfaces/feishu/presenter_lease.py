"""The lease that decides which of several bots of one app draws the cards: one at a time. Every bot handles the
messages and clicks that reach it. But two that draw the same cards would undo each other's drawings for moments, and
stream into the same card. So one holds the lease in the surface's key_values. If that one dies, another takes over:
at once if it can see that the process has gone, and otherwise when the lease has run out.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable

import msgspec
from msgspec import Struct

from coderelay.protocol.ids import new_id
from coderelay.protocol.key_value_store import Change, Entry, KeyValueStore
from coderelay.protocol.wall_clock import now
from coderelay.surfaces.feishu.card_outbox_interface import Card, CardOutbox, ChatPlace

LEASE_MS = 12_000
_RENEW_SECONDS = 3.0
_LOOK_SECONDS = 1.0
_KEY = "chat.presenter"

log = logging.getLogger(__name__)


class _Lease(Struct, frozen=True):
    """`machine` identifies the machine and process namespace in which `pid` is valid."""

    holder: str
    until: int
    machine: str
    pid: int


class PresenterLease:
    """`clock` is in milliseconds. Whoever holds the lease renews it every `renew` seconds; others look at it every
    `look` seconds."""

    def __init__(
        self,
        key_values: KeyValueStore,
        clock: Callable[[], int] = now,
        renew: float = _RENEW_SECONDS,
        look: float = _LOOK_SECONDS,
    ) -> None:
        self._key_values = key_values
        self._clock = clock
        self._renew_seconds = renew
        self._look_seconds = look
        self._me = new_id()
        self._machine = _machine()
        self._version = 0
        self._until = 0

    @property
    def is_held(self) -> bool:
        """Whether no other bot can have it. A process that was suspended finds out before it has renewed it."""
        return self._version != 0 and self._clock() < self._until

    async def until_held(self) -> None:
        """Wait while it has run out: either it is renewed, or whoever waits is cancelled."""
        while not self.is_held:  # noqa: ASYNC110  # the clock announces nothing
            await asyncio.sleep(self._look_seconds)

    async def run(self, present: Callable[[], Awaitable[None]]) -> None:
        """Present while this bot holds the lease, again and again, until it is cancelled."""
        try:
            while True:
                await self._until_held()
                await self._while_held(present)
        finally:
            await asyncio.shield(self._release())

    async def _until_held(self) -> None:
        while True:
            try:
                entry = await self._key_values.read(_KEY)
                if entry is None or self._is_free(entry):
                    await self._write(0 if entry is None else entry.version)
                    if self._version:
                        return
            except Exception:
                log.exception("it could not be found out which bot shows the sessions")
            await asyncio.sleep(self._look_seconds)

    async def _while_held(self, present: Callable[[], Awaitable[None]]) -> None:
        presenting = asyncio.ensure_future(present())
        try:
            while self._version and not presenting.done():
                await asyncio.wait([presenting], timeout=self._renew_seconds)
                await self._renew()
        finally:
            presenting.cancel()
            for ended in await asyncio.gather(presenting, return_exceptions=True):
                if isinstance(ended, Exception):
                    log.error("the sessions cannot be shown", exc_info=ended)
                    await asyncio.sleep(self._look_seconds)

    async def _release(self) -> None:
        """Let another bot begin at once. A renewal that was cancelled may still be written meanwhile."""
        while (entry := await self._key_values.read(_KEY)) is not None:
            is_mine = msgspec.json.decode(entry.value, type=_Lease).holder == self._me
            if not is_mine or await self._key_values.write(Change(_KEY, None, entry.version)):
                return

    async def _renew(self) -> None:
        try:
            await self._write(self._version)
        except Exception:
            log.exception("the lease of the bot that shows the sessions could not be renewed")

    async def _write(self, version: int) -> None:
        lease = _Lease(self._me, self._clock() + LEASE_MS, self._machine, os.getpid())
        self._version = await self._key_values.write(Change(_KEY, msgspec.json.encode(lease), version))
        self._until = lease.until

    def _is_free(self, entry: Entry) -> bool:
        lease = msgspec.json.decode(entry.value, type=_Lease)
        if lease.holder == self._me:
            return True
        return lease.until < self._clock() or (lease.machine == self._machine and _process_has_ended(lease.pid))


class LeasedOutbox:
    """A CardOutbox; see card_outbox_interface.py for the contract. What a bot would show after its lease has
    run out is not shown, for another bot may have shown newer things: a card would look open again, and stay so."""

    def __init__(self, outbox: CardOutbox, lease: PresenterLease) -> None:
        self._outbox = outbox
        self._lease = lease
        self.message_of, self.card_of, self.key_of = outbox.message_of, outbox.card_of, outbox.key_of

    async def show(self, key: str, place: ChatPlace, card: Card) -> None:
        await self._lease.until_held()
        await self._outbox.show(key, place, card)

    def stream(self, key: str, text: str) -> None:
        if self._lease.is_held:
            self._outbox.stream(key, text)


def _process_has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _machine() -> str:
    """This run of this machine, and the space of process ids in it. Empty where that cannot be told, and a process of
    an empty machine is never seen to have gone."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return new_id()  # equal to no other
