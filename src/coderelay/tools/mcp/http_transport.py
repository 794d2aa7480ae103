"""The streamable HTTP transport of MCP: each message is posted, and its answer comes on that connection.

A server that has more to say keeps one GET response open for it, if it can.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import Protocol
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from coderelay.http.sse import EventStream
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.translatable import join_texts, say
from coderelay.tools.mcp.server_transport_interface import MOST_BYTES, ServerFailed, SessionForgotten
from coderelay.wire.transport import Exchange, Take

log = logging.getLogger(__name__)

_FAILURE_BYTES = 2000
_WORTH_SECONDS = 10.0  # a GET response that ends sooner is not requested again
_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_BOTH = "application/json, text/event-stream"
_STREAM = "text/event-stream"


class HttpReply(Protocol):
    """An HTTP response. The names in `headers` are in lower case."""

    status: int
    headers: dict[str, str]

    async def receive(self) -> bytes:
        """The bytes that have arrived; empty at the end of the body."""
        ...

    async def read(self, limit: int) -> bytes: ...


class Http(Protocol):
    """An HTTP client for one server. All errors, also while an answer is read, are raised as ModelFailed."""

    def get(self, path: str, headers: Mapping[str, str]) -> AbstractAsyncContextManager[HttpReply]: ...

    def post(self, path: str, headers: Mapping[str, str], body: bytes) -> AbstractAsyncContextManager[HttpReply]: ...

    async def close(self) -> None: ...


OpenHttp = Callable[[str], Http]
"""Opens a client for an origin, `https://host:port`. Raises ModelFailed if the address is invalid."""


class HttpTransport:
    def __init__(self, url: str, headers: Mapping[str, str], open_http: OpenHttp) -> None:
        parts = urlsplit(url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        self._given = {name.lower(): value for name, value in headers.items()}
        self._agreed: dict[str, str] = {}
        self._open_http = open_http
        self._http: Http | None = None
        self._take: Take = lambda message: None
        self._posts: set[Exchange] = set()
        self._settled = asyncio.Event()

    async def open(self) -> None:
        try:
            self._http = self._open_http(self._origin)
        except ModelFailed as failed:
            raise ServerFailed(say("cannot be used: {problem}", problem=failed.message)) from failed

    async def deliver(self, take: Take) -> str:
        """Answers arrive with the posts; this reads what the server sends unasked. It never ends by itself."""
        self._take = take
        await self._settled.wait()
        await self._listen()
        return await asyncio.get_running_loop().create_future()

    def send(self, message: bytes) -> Exchange:
        headers = {"content-type": "application/json", "accept": _BOTH, **self._given, **self._agreed}
        post = asyncio.ensure_future(self._post(headers, message))
        self._posts.add(post)
        post.add_done_callback(self._forget)
        return post

    async def drained(self) -> None:
        return

    def set_protocol_version(self, version: str) -> None:
        self._agreed[_VERSION] = version
        self._settled.set()

    @property
    def last_error_output(self) -> str:
        return ""

    async def close(self) -> None:
        for post in self._posts:
            post.cancel()
        await asyncio.gather(*self._posts, return_exceptions=True)
        if self._http is not None:
            await self._http.close()
            self._http = None

    async def _post(self, headers: Mapping[str, str], message: bytes) -> None:
        if self._http is None:
            raise ServerFailed("was closed")
        try:
            async with self._http.post(self._path, headers, message) as answer:
                await self._take_answer(answer)
        except ModelFailed as failed:
            raise ServerFailed(failed.what or failed.message, sent=True) from failed

    def _forget(self, post: Exchange) -> None:
        self._posts.discard(post)
        if not post.cancelled() and (failed := post.exception()) is not None:
            log.debug("a message to an MCP server was not answered: %s", failed)  # whoever waits for it is told

    async def _take_answer(self, answer: HttpReply) -> None:
        if answer.status == 404 and _SESSION in self._agreed:
            raise SessionForgotten
        if answer.status >= 300:
            unsure = answer.status >= 500 or answer.status == 408  # maybe the status of a proxy in between
            raise ServerFailed(await _refusal(answer), sent=unsure)
        if session := answer.headers.get(_SESSION):
            self._agreed[_SESSION] = session
        if answer.headers.get("content-type", "").startswith(_STREAM):
            await self._take_stream(answer)
        elif data := await _whole(answer):
            self._take(data)

    async def _take_stream(self, answer: HttpReply) -> None:
        stream = EventStream(_check_size)
        while piece := await answer.receive():
            for data in stream.feed(piece):
                self._take(data)

    async def _listen(self) -> None:
        """Receive what the server sends unasked. A server that does not support this still answers requests."""
        clock = asyncio.get_running_loop().time
        lasted = _WORTH_SECONDS
        while lasted >= _WORTH_SECONDS and self._http is not None:
            began = clock()
            with suppress(ModelFailed, ServerFailed):  # for instance because it was silent for too long
                await self._listen_once(self._http)
            lasted = clock() - began

    async def _listen_once(self, http: Http) -> None:
        headers = {"accept": _STREAM, **self._given, **self._agreed}
        async with http.get(self._path, headers) as answer:
            if answer.status == 200 and answer.headers.get("content-type", "").startswith(_STREAM):
                await self._take_stream(answer)


async def _whole(answer: HttpReply) -> bytes:
    data = await answer.read(MOST_BYTES + 1)
    _check_size(len(data))
    return data


async def _refusal(answer: HttpReply) -> str:
    where = answer.headers.get("location", "") if answer.status < 400 else ""
    said = where or _reason(await answer.read(_FAILURE_BYTES))
    told = (
        say("answered {status}: {why}", status=answer.status, why=said)
        if said
        else say("answered {status}", status=answer.status)
    )
    hint = "check its `headers` in the configuration" if answer.status in (401, 403) else ""
    return join_texts("; ", (told, hint))


def _reason(body: bytes) -> str:
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.json.decode(body, type=_ErrorBody).error.message
    return " ".join(body.decode(errors="replace").split())[:300]


class _Error(Struct):
    message: str


class _ErrorBody(Struct):
    error: _Error


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        raise ServerFailed(
            say("sent a message of more than {count} MiB", count=MOST_BYTES // 1024 // 1024), sent=True
        )
