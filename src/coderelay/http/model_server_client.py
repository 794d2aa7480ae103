"""The HTTP client for one server, which keeps its connection for the next request."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from coderelay.http.dial import dial, proxy_for
from coderelay.http.errors import NoResponse, ServerMisbehaved
from coderelay.http.server_url import parse_address, without_user
from coderelay.http.socket_connection import SocketConnection
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.translatable import say

if TYPE_CHECKING:
    from coderelay.http.response_decoder import Head


class HttpClient:
    """Sends requests to the server at `base_url`. `env` names proxies and certificates with the usual environment
    variables.

    An idle connection is kept for `keep_seconds` only: a router may have dropped an older connection silently, and a
    request on it would never be answered.
    """

    def __init__(
        self,
        base_url: str,
        *,
        env: Mapping[str, str],
        connect_seconds: float = 30.0,
        idle_seconds: float = 300.0,
        keep_seconds: float = 30.0,
    ) -> None:
        address = parse_address(base_url)
        if address is None:
            hint = "It must look like https://host/v1."
            raise ModelFailed(say("not a usable address: {url}", url=repr(without_user(base_url))), hint=hint)
        self._address = address
        self._proxy = proxy_for(address, env)
        self._env = env
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds
        self._keep_seconds = keep_seconds
        self._kept: tuple[SocketConnection, float] | None = None

    def get(self, path: str, headers: Mapping[str, str]) -> AbstractAsyncContextManager["Response"]:
        """Like `post`, without a body."""
        return self._request(self._head("GET", path, headers, {}), b"")

    def post(self, path: str, headers: Mapping[str, str], body: bytes) -> AbstractAsyncContextManager["Response"]:
        """Raises ModelFailed, also for failures while the response is read.

        The connection is kept if the response was read to its end, and closed otherwise.
        """
        return self._request(self._head("POST", path, headers, {"content-length": str(len(body))}), body)

    @asynccontextmanager
    async def _request(self, head: bytes, body: bytes) -> AsyncGenerator["Response"]:
        try:
            response = await self._ask(head, body)
            try:
                yield response
            finally:
                self._put_back(response)
        except ServerMisbehaved as broken:
            raise self._failed(broken) from broken

    def _failed(self, broken: ServerMisbehaved) -> ModelFailed:
        if broken.who:
            return ModelFailed(
                say("{host} {problem}", host=broken.who, problem=broken.what),
                retryable=broken.retryable,
                hint=broken.hint,
            )
        message = say("the model server at {host} {problem}", host=self._address.netloc, problem=broken.what)
        return ModelFailed(
            message, retryable=broken.retryable, hint=broken.hint, what=broken.what, is_off=broken.is_off
        )

    async def close(self) -> None:
        if self._kept is not None:
            self._kept[0].close()
            self._kept = None

    async def _ask(self, head: bytes, body: bytes) -> "Response":
        kept = self._take_kept()
        if kept is not None:
            with suppress(NoResponse):  # the server closed it while it was idle and sent no answer, so retry
                return await self._exchange(kept, head, body)
        wire = await dial(self._address, self._proxy, self._env, self._connect_seconds)
        return await self._exchange(wire, head, body)

    async def _exchange(self, wire: SocketConnection, head: bytes, body: bytes) -> "Response":
        try:
            wire.send(head, body)
            from coderelay.http.response_decoder import (
                receive_head,  # loaded while the server works on its first answer
            )

            answer, rest = await receive_head(wire, self._idle_seconds)
            return Response(wire, answer, rest, self._idle_seconds)
        except BaseException:
            wire.close()
            raise

    def _head(self, method: str, path: str, headers: Mapping[str, str], size: Mapping[str, str]) -> bytes:
        address, target, added = self._address, self._address.target(path), dict[str, str]()
        if self._proxy is not None and not address.secure:
            target, added = f"http://{address.netloc}{target}", self._proxy.headers
        fields = {"host": address.netloc, **size, "accept-encoding": "identity"}
        lines = [_field(name, value) for name, value in (fields | added | dict(headers)).items()]
        return "\r\n".join([f"{method} {target} HTTP/1.1", *lines, "", ""]).encode("latin-1")

    def _take_kept(self) -> SocketConnection | None:
        if self._kept is None:
            return None
        (wire, since), self._kept = self._kept, None
        if wire.is_quiet and asyncio.get_running_loop().time() - since < self._keep_seconds:
            return wire
        wire.close()
        return None

    def _put_back(self, response: "Response") -> None:
        if self._kept is None and response.leaves_wire_usable:
            self._kept = (response.wire, asyncio.get_running_loop().time())
        else:
            response.wire.close()


class Response:
    """The response to a request. Its body is read on demand."""

    def __init__(self, wire: SocketConnection, head: "Head", rest: bytes, idle_seconds: float) -> None:
        from coderelay.http.response_decoder import body_of

        self.status = head.status
        self.headers = head.headers
        self.wire = wire
        self._head = head
        self._body = body_of(head)
        self._rest = rest
        self._idle_seconds = idle_seconds

    async def receive(self) -> bytes:
        """Return the next bytes of the body, as many as have arrived, or empty bytes at its end. Raises Broken."""
        while not self._body.finished:
            data, self._rest = self._rest, b""
            piece = self._body.feed(data or await self.wire.receive(self._idle_seconds))
            if piece:
                return piece
        return b""

    async def read(self, limit: int) -> bytes:
        body = bytearray()
        while len(body) < limit and (piece := await self.receive()):
            body += piece
        return bytes(body[:limit])

    async def finish(self, seconds: float) -> None:
        """Read the rest of the body so that the connection can be kept, which is worth waiting no longer than
        `seconds`."""
        with suppress(TimeoutError, ServerMisbehaved):
            async with asyncio.timeout(seconds):
                while await self.receive():
                    pass

    @property
    def leaves_wire_usable(self) -> bool:
        ended = self._body.finished and self._body.clean and not self._rest
        return ended and self._head.keeps_connection and self.wire.is_quiet


def _field(name: str, value: str) -> str:
    """The error message never shows the value, which may be an API key."""
    if not (value.isascii() and value.isprintable()):
        raise ModelFailed(
            say("the header {name} has a line break or another character that cannot be sent", name=name)
        )
    return f"{name}: {value}"
