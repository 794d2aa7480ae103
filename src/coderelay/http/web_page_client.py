"""Fetches one web page, connecting to an IP address that the caller has already checked.

It is in this package because it is made of the same parts as `client`. A tool uses it, which gets it from `app`.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import quote, urlsplit

from msgspec.structs import replace

from coderelay.http.dial import Proxy, dial, load_trust, proxy_for, tls_failure
from coderelay.http.errors import ServerMisbehaved
from coderelay.http.model_server_client import Response
from coderelay.http.response_decoder import Head, receive_head
from coderelay.http.server_url import Address, parse_address
from coderelay.http.socket_connection import SocketConnection
from coderelay.protocol.errors import ModelFailed, ToolFailed
from coderelay.protocol.translatable import say

_KEPT = "/%:@!$&'()*+,;=~?"


class PageClient:
    """`env` names proxies and certificates with the usual environment variables."""

    def __init__(self, env: Mapping[str, str], *, connect_seconds: float = 10.0, idle_seconds: float = 20.0) -> None:
        self._env = env
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds

    def goes_through_proxy(self, url: str) -> bool:
        """If so, the proxy resolves the host name, and the IP address cannot be fixed here. Raises ToolFailed."""
        return self._proxy(_address(url)) is not None

    @asynccontextmanager
    async def get(self, url: str, place: str, headers: Mapping[str, str]) -> AsyncGenerator[Response]:
        """`place` is the IP address to connect to, whatever the host name in `url` resolves to by now; with a proxy
        it is ignored. The body is returned with its content encoding. Raises ToolFailed, also for failures while the
        body is read."""
        address = _address(url)
        proxy = self._proxy(address)
        try:
            wire = await self._dial(address, place, proxy)
            try:
                wire.send(_request(url, address, proxy, headers))
                head, rest = await receive_head(wire, self._idle_seconds)
                yield _response(wire, head, rest, self._idle_seconds)
            finally:
                wire.close()
        except ServerMisbehaved as broken:
            raise ToolFailed(
                say("{host} {problem}", host=broken.who or address.netloc, problem=broken.what), broken.hint
            ) from broken

    def _proxy(self, address: Address) -> Proxy | None:
        try:
            return proxy_for(address, self._env)
        except ModelFailed as failed:
            raise ToolFailed(failed.message, failed.hint) from failed

    async def _dial(self, address: Address, place: str, proxy: Proxy | None) -> SocketConnection:
        if proxy is not None:
            return await dial(address, proxy, self._env, self._connect_seconds)
        wire = await dial(replace(address, secure=False, host=place), None, self._env, self._connect_seconds)
        if address.secure:
            await self._encrypt(wire, address.host)
        return wire

    async def _encrypt(self, wire: SocketConnection, host: str) -> None:
        """The certificate must be that of the host name in the URL, whatever address the connection leads to."""
        try:
            async with asyncio.timeout(self._connect_seconds):
                await wire.start_tls(await load_trust(self._env), host)
        except BaseException as error:
            wire.close()
            if isinstance(error, ssl.SSLError):
                raise tls_failure(error) from error
            if isinstance(error, OSError):  # includes TimeoutError
                raise ServerMisbehaved("broke off while the connection was being encrypted") from error
            raise


def _address(url: str) -> Address:
    address = parse_address(url)
    if address is None:
        raise ToolFailed(say("{url} is no address of a page", url=url))
    return address


def _request(url: str, address: Address, proxy: Proxy | None, headers: Mapping[str, str]) -> bytes:
    parts = urlsplit(url)
    target = quote(parts.path or "/", _KEPT) + (f"?{quote(parts.query, _KEPT)}" if parts.query else "")
    fields = {"host": address.netloc, "connection": "close", **headers}
    if proxy is not None and not address.secure:
        target, fields = f"http://{address.netloc}{target}", fields | proxy.headers
    lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _response(wire: SocketConnection, head: Head, rest: bytes, idle_seconds: float) -> Response:
    """The caller decompresses the body, since only the caller knows how much of it is wanted."""
    plain = {name: value for name, value in head.headers.items() if name != "content-encoding"}
    response = Response(wire, replace(head, headers=plain), rest, idle_seconds)
    response.headers = head.headers
    return response
