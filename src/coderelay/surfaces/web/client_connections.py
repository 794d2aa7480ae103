"""The clients of the server: each is served until its connection ends, and all are sent the same frames in order."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from typing import Any, Protocol

from starlette.websockets import WebSocketDisconnect

from coderelay.protocol.ids import SessionId
from coderelay.surfaces.web.client_send_queue import ClientSendQueue, Socket
from coderelay.surfaces.web.ide_context import IdeContexts
from coderelay.surfaces.web.machine_statistics import sample
from coderelay.surfaces.web.outgoing_event_json import event_text
from coderelay.surfaces.web.session_frames import Frame

log = logging.getLogger(__name__)

_STATISTICS_SECONDS = 0.5
_READ_SECONDS = 0.25

CarryOut = Callable[[ClientSendQueue, object], Awaitable[None]]
"""A function that carries out one message of a client."""


class ClientSocket(Socket, Protocol):
    """A WebSocket that was accepted."""

    async def receive(self) -> MutableMapping[str, Any]: ...


class ClientConnections:
    def __init__(self) -> None:
        self._connections: set[ClientSendQueue] = set()
        self._measured = asyncio.Event()
        self.ide = IdeContexts(self.tell)

    def __len__(self) -> int:
        return len(self._connections)

    async def serve(self, websocket: ClientSocket, carry_out: CarryOut, *, batched: bool) -> None:
        """Serve one client until its connection ends."""
        connection = ClientSendQueue(websocket, batched=batched)
        self._connections.add(connection)
        tasks: list[asyncio.Task[Any]] = [
            asyncio.create_task(_read(websocket, connection, carry_out)),
            asyncio.create_task(connection.send_all()),
            asyncio.create_task(connection.lagging.wait()),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._connections.discard(connection)
            self.ide.forget(connection)
            self.measure()
            for task in tasks:
                task.cancel()
            for ended in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(ended, Exception) and not _is_gone(ended):
                    log.error("a connection failed", exc_info=ended)
        if connection.lagging.is_set():
            await connection.close_lagging()

    def publish(self, frames: Iterable[Frame]) -> None:
        for frame in frames:
            for connection in self._connections:
                connection.put(frame)

    def tell(self, text: str, but: ClientSendQueue | None = None) -> None:
        """Tell all clients what is in no log."""
        for connection in self._connections:
            if connection is not but:
                connection.put(Frame(text, SessionId(""), live=True))

    async def let_read(self) -> None:
        """Many events may come at once. Clients that read them are not to fall behind; one that does not is waited
        for only once."""
        filling = [each for each in self._connections if each.is_filling_up and not each.is_slow]
        if filling:
            with suppress(TimeoutError):
                async with asyncio.timeout(_READ_SECONDS):
                    for each in filling:
                        await each.drained()
            for each in filling:
                each.is_slow = each.is_filling_up

    def measure(self) -> None:
        """Somebody wants statistics, or does not want them any more."""
        if any(each.wants_statistics for each in self._connections):
            self._measured.set()
        else:
            self._measured.clear()

    async def tell_statistics(self) -> None:
        """Send statistics of the machine to those who want them, until cancelled."""
        while await self._measured.wait():
            try:
                text = event_text("statistics", await sample())
            except OSError:
                log.exception("the machine cannot be measured")
                self._measured.clear()  # until somebody asks again
                continue
            for connection in self._connections:
                if connection.wants_statistics:
                    connection.put(Frame(text, SessionId(""), live=True))
            await asyncio.sleep(_STATISTICS_SECONDS)


async def _read(socket: ClientSocket, connection: ClientSendQueue, carry_out: CarryOut) -> None:
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        await carry_out(connection, message.get("text"))
        await connection.drained()


def _is_gone(error: Exception) -> bool:
    """Whether this only says that the client has gone; servers say that in several ways."""
    return isinstance(error, WebSocketDisconnect | RuntimeError | OSError)
