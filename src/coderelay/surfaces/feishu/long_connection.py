"""The long connection: a WebSocket from this machine to the platform, so that a bot needs no public address.

It runs in a thread with an event loop of its own, and does nothing but hand events over: while the product is busy,
the connection still answers pings. Of lark-oapi it uses the request for an address, the frames and the joining of
parts; the library's own loop waits up to two minutes before it reconnects, gives up in silence when it is refused,
runs handlers on the socket's loop and cannot be stopped.
"""

import asyncio
import base64
import json
import logging
import random
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar, cast
from urllib.parse import parse_qs, urlparse

import websockets
from lark_oapi.ws import client as lark_client  # pyright: ignore[reportMissingTypeStubs]  # it has none
from lark_oapi.ws.exception import (  # pyright: ignore[reportMissingTypeStubs]  # it has none
    ClientException,
    ServerException,
)
from lark_oapi.ws.pb import pbbp2_pb2  # pyright: ignore[reportMissingTypeStubs]  # it has none

from coderelay.surfaces.feishu.lark_api import AppCredentials

Receive = Callable[[bytes], Awaitable[dict[str, Any] | None]]
"""Takes an event and returns the answer to it. If it raises, the platform sends the event again."""

T = TypeVar("T")

_OPEN_SECONDS = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_ANSWER_SECONDS = 10.0
_CLOSE_SECONDS = 2.0
_MOST_FRAME_BYTES = 4 * 1024 * 1024
_CONTROL, _DATA = 0, 1
_new_frame: Any = cast("Any", pbbp2_pb2).Frame

log = logging.getLogger(__name__)


class LongConnection:
    """`receive` is called on the event loop that `start` was called on. `tell` is called there as well, with True
    when events flow and with False when the connection is lost."""

    def __init__(self, app: AppCredentials, receive: Receive, tell: Callable[[bool], None]) -> None:
        self._app = app
        self._receive = receive
        self._tell = tell
        self._main = asyncio.get_running_loop()
        self._own: asyncio.AbstractEventLoop | None = None
        self._serving: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="feishu-connection", daemon=True)
        self._ended = asyncio.Event()
        self._is_stopping = False

    def start(self) -> None:
        self._thread.start()

    async def stop(self) -> None:
        """Close the connection, and return when its thread has ended."""
        self._is_stopping = True
        if self._own is not None:
            with suppress(RuntimeError):  # it has ended by itself
                self._own.call_soon_threadsafe(self._cancel)
        if self._thread.is_alive():
            await self._ended.wait()

    def _cancel(self) -> None:
        if self._serving is not None:
            self._serving.cancel()

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(self._serve())
        self._from_here(self._ended.set)

    def _from_here(self, work: Callable[..., object], *arguments: object) -> None:
        with suppress(RuntimeError):  # the main loop is closed, and nobody wants to know any more
            self._main.call_soon_threadsafe(work, *arguments)

    async def _serve(self) -> None:
        self._own, self._serving = asyncio.get_running_loop(), asyncio.current_task()
        client: Any = cast("Any", lark_client).Client(self._app.app_id, self._app.app_secret, domain=self._app.domain)
        pause = _FIRST_PAUSE
        while not self._is_stopping:
            try:
                await self._connect_once(client)
                pause = _FIRST_PAUSE
            except (ClientException, ServerException) as error:
                log.warning("the platform refuses the long connection: %s", error)
            except (OSError, TimeoutError, websockets.WebSocketException) as error:
                log.warning("the long connection failed: %s", error or type(error).__name__)
            except Exception:  # whatever it was, a bot that hears nothing any more helps nobody
                log.exception("the long connection failed")
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _connect_once(self, client: Any) -> None:
        async with asyncio.timeout(_OPEN_SECONDS):
            url = str(await _in_thread(client._get_conn_url))  # it blocks, and knows no limit
        service = int(parse_qs(urlparse(url).query)["service_id"][0])
        async with websockets.connect(
            url, open_timeout=_OPEN_SECONDS, close_timeout=_CLOSE_SECONDS, max_size=_MOST_FRAME_BYTES, proxy=None
        ) as socket:
            self._from_here(self._tell, True)
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = {group.create_task(_ping(socket, client, service))}
                    with suppress(websockets.ConnectionClosed):
                        async for message in socket:
                            if isinstance(message, bytes):
                                tasks.add(taking := group.create_task(self._take(socket, client, message)))
                                taking.add_done_callback(tasks.discard)
                    for each in tasks:
                        each.cancel()
            finally:
                if not self._is_stopping:
                    self._from_here(self._tell, False)

    async def _take(self, socket: websockets.ClientConnection, client: Any, message: bytes) -> None:
        try:
            await self._take_frame(socket, client, message)
        except Exception:  # one request of the surface: a frame that cannot be read must not end the connection
            log.exception("a frame of the long connection cannot be read")

    async def _take_frame(self, socket: websockets.ClientConnection, client: Any, message: bytes) -> None:
        frame: Any = _new_frame()
        frame.ParseFromString(message)
        headers = {each.key: each.value for each in frame.headers}
        parts, part = int(headers.get("sum", "1")), int(headers.get("seq", "0"))
        if frame.method != _DATA:
            if frame.payload and headers.get("type") == "pong":
                _configure(client, frame.payload)
            return
        if headers.get("type") != "event":
            return
        payload = frame.payload if parts <= 1 else client._combine(headers["message_id"], parts, part, frame.payload)
        if payload is None:
            return  # more parts of it will come
        frame.payload = json.dumps(await self._answer(payload)).encode()
        with suppress(websockets.ConnectionClosed):  # the platform sends the event again
            await socket.send(frame.SerializeToString())

    async def _answer(self, payload: bytes) -> dict[str, Any]:
        handed_over = asyncio.run_coroutine_threadsafe(self._hand_over(payload), self._main)
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                answer = await asyncio.shield(asyncio.wrap_future(handed_over))  # it goes on, whoever waits
        except Exception as error:  # noqa: BLE001  # one event: the platform is told, and sends it again
            log.warning("an event could not be received: %s", error)
            return {"code": 500}
        if answer is None:
            return {"code": 200}
        return {"code": 200, "data": base64.b64encode(json.dumps(answer).encode()).decode()}

    async def _hand_over(self, payload: bytes) -> dict[str, Any] | None:
        return await self._receive(payload)


async def _in_thread(work: Callable[[], T]) -> T:
    """Run what blocks in a thread that nobody has to wait for, not even at the end of the program."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(settling: Callable[[], None]) -> None:
        if not done.done():
            settling()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001  # it is raised where the result is awaited
            settling = partial(done.set_exception, error)
        else:
            settling = partial(done.set_result, result)
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, settling)

    threading.Thread(target=run, name="feishu-address", daemon=True).start()
    return await done


async def _ping(socket: websockets.ClientConnection, client: Any, service: int) -> None:
    """Tell the platform that this client is here, as often as it wants. (A dead connection is found by the pings of
    WebSocket itself.)"""
    while True:
        frame: Any = _new_frame()
        frame.SeqID = frame.LogID = 0
        frame.service, frame.method = service, _CONTROL
        header = frame.headers.add()
        header.key, header.value = "type", "ping"
        with suppress(websockets.ConnectionClosed):
            await socket.send(frame.SerializeToString())
        await asyncio.sleep(max(1, int(client._ping_interval)))


def _configure(client: Any, payload: bytes) -> None:
    try:
        seconds = json.loads(payload).get("PingInterval")
    except (ValueError, AttributeError):
        return
    if isinstance(seconds, int) and 1 <= seconds <= 3600:
        client._ping_interval = seconds
