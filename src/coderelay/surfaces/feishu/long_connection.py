"""The long connection: a WebSocket from this machine to the platform, so that a bot needs no public address.

It runs in a thread with an event loop of its own, and does nothing but hand events over: while the product is busy,
the connection still answers pings. Of lark-oapi it uses the frames; the library's own loop waits up to two minutes
before it reconnects, gives up in silence when it is refused, runs handlers on the socket's loop, and cannot be
stopped.
"""

import asyncio
import base64
import json
import logging
import random
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlparse

import httpx
import msgspec
import websockets
from msgspec import Struct

from coderelay.surfaces.feishu.lark_api import AppCredentials
from coderelay.surfaces.feishu.lark_sdk_partial_import import Frame

Receive = Callable[[bytes], Awaitable[dict[str, Any] | None]]
"""Takes an event and returns the answer to it. If it raises, the platform sends the event again."""

_OPEN_SECONDS = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_ANSWER_SECONDS = 10.0
_CLOSE_SECONDS = 2.0
_MOST_FRAME_BYTES = 4 * 1024 * 1024
_CONTROL, _DATA = 0, 1
_MOST_PARTIAL = 20
_PING_SECONDS = 120  # unless the platform says otherwise

log = logging.getLogger(__name__)


class _Refused(Exception):
    """The platform gives this app no address to connect to."""


class _Timing(Struct, frozen=True):
    """How many seconds apart the platform wants pings. It says more than this."""

    PingInterval: int = 0


class _Endpoint(Struct, frozen=True):
    URL: str = ""
    ClientConfig: _Timing | None = None


class _EndpointAnswer(Struct, frozen=True):
    code: int
    msg: str = ""
    data: _Endpoint | None = None


class LongConnection:
    """`receive` is called on the event loop that `start` was called on. `tell` is called there as well, with True
    when events flow and with False when the connection is lost."""

    def __init__(
        self, app: AppCredentials, receive: Receive, tell: Callable[[bool], None], pace: float = 1.0
    ) -> None:
        self._app = app
        self._receive = receive
        self._tell = tell
        self._pace = pace
        self._main = asyncio.get_running_loop()
        self._own: asyncio.AbstractEventLoop | None = None
        self._serving: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="feishu-connection", daemon=True)
        self._ended = asyncio.Event()
        self._is_stopping = False
        self._ping_seconds = _PING_SECONDS
        self._partial: dict[str, dict[int, bytes]] = {}  # parts of large events, by the event

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
        pause = _FIRST_PAUSE
        while not self._is_stopping:
            try:
                await self._connect_once()
                pause = _FIRST_PAUSE
            except _Refused as error:
                log.warning("the platform refuses the long connection: %s", error)
            except (OSError, TimeoutError, httpx.HTTPError, websockets.WebSocketException) as error:
                log.warning("the long connection failed: %s", error or type(error).__name__)
            except Exception:  # any failure ends the bot, because without a connection it receives nothing
                log.exception("the long connection failed")
            await asyncio.sleep(self._pace * pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _address(self) -> str:
        """Where to connect to, this time. Raises _Refused."""
        keys = {"AppID": self._app.app_id, "AppSecret": self._app.app_secret}
        async with httpx.AsyncClient(base_url=self._app.domain, timeout=_OPEN_SECONDS) as http:
            answer = await http.post("/callback/ws/endpoint", json=keys, headers={"locale": "zh"})
        try:
            found = msgspec.json.decode(answer.content, type=_EndpointAnswer)
        except msgspec.DecodeError as error:
            raise _Refused(f"HTTP {answer.status_code}") from error
        if found.code or found.data is None or not found.data.URL:
            raise _Refused(f"{found.code}: {found.msg}")
        self._keep_timing(found.data.ClientConfig)
        return found.data.URL

    async def _connect_once(self) -> None:
        async with asyncio.timeout(_OPEN_SECONDS):
            url = await self._address()
        service = int(parse_qs(urlparse(url).query)["service_id"][0])
        async with websockets.connect(
            url, open_timeout=_OPEN_SECONDS, close_timeout=_CLOSE_SECONDS, max_size=_MOST_FRAME_BYTES, proxy=None
        ) as socket:
            self._from_here(self._tell, True)
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = {group.create_task(self._ping(socket, service))}
                    with suppress(websockets.ConnectionClosed):
                        async for message in socket:
                            if isinstance(message, bytes):
                                tasks.add(taking := group.create_task(self._take(socket, message)))
                                taking.add_done_callback(tasks.discard)
                    for each in tasks:
                        each.cancel()
            finally:
                if not self._is_stopping:
                    self._from_here(self._tell, False)

    async def _take(self, socket: websockets.ClientConnection, message: bytes) -> None:
        try:
            await self._take_frame(socket, message)
        except Exception:  # one request of the surface: a frame that cannot be read must not end the connection
            log.exception("a frame of the long connection cannot be read")

    async def _take_frame(self, socket: websockets.ClientConnection, message: bytes) -> None:
        frame: Any = Frame()
        frame.ParseFromString(message)
        headers = {each.key: each.value for each in frame.headers}
        parts, part = int(headers.get("sum", "1")), int(headers.get("seq", "0"))
        if frame.method != _DATA:
            if frame.payload and headers.get("type") == "pong":
                with suppress(msgspec.DecodeError):
                    self._keep_timing(msgspec.json.decode(frame.payload, type=_Timing))
            return
        if headers.get("type") != "event":
            return
        payload = frame.payload if parts <= 1 else self._joined(headers["message_id"], parts, part, frame.payload)
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

    def _joined(self, event: str, count: int, part: int, payload: bytes) -> bytes | None:
        """The whole event, if this is the last part of it to come. Events whose parts do not come are forgotten."""
        parts = self._partial.setdefault(event, {})
        parts[part] = payload
        if len(parts) == count:
            del self._partial[event]
            return b"".join(parts[number] for number in range(count))
        if len(self._partial) > _MOST_PARTIAL:
            del self._partial[next(iter(self._partial))]
        return None

    async def _ping(self, socket: websockets.ClientConnection, service: int) -> None:
        """Tell the platform that this client is here, as often as it wants. (A dead connection is found by the pings
        of WebSocket itself.)"""
        while True:
            frame: Any = Frame()
            frame.SeqID = frame.LogID = 0
            frame.service, frame.method = service, _CONTROL
            header = frame.headers.add()
            header.key, header.value = "type", "ping"
            with suppress(websockets.ConnectionClosed):
                await socket.send(frame.SerializeToString())
            await asyncio.sleep(self._ping_seconds)

    def _keep_timing(self, timing: _Timing | None) -> None:
        """The platform says it with the address, and may say it again with a pong."""
        if timing is not None and 1 <= timing.PingInterval <= 3600:
            self._ping_seconds = timing.PingInterval
