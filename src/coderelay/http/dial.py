"""A wire to a server, ready for HTTP: through the proxy if there is one, encrypted if the address says so."""

import asyncio
import os
import socket
import ssl
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address

from coderelay.http.address import Address
from coderelay.http.failures import Broken
from coderelay.http.head import receive_head
from coderelay.http.proxy import Proxy
from coderelay.http.tls import load_trust, tls_failure
from coderelay.http.wire import Wire
from coderelay.protocol.translatable import say

_NEXT_ADDRESS_SECONDS = 5.0  # a name may have an address that swallows what is sent to it, often an IPv6 one

_Trust = asyncio.Future[ssl.SSLContext]


async def dial(address: Address, proxy: Proxy | None, env: Mapping[str, str], seconds: float) -> Wire:
    """Raises Broken. `seconds` are for everything together."""
    secure = address.secure or (proxy is not None and proxy.address.secure)
    trust = load_trust(env) if secure else None
    try:
        async with asyncio.timeout(seconds):
            return await (_dial_proxy(address, proxy, trust) if proxy else _dial(address, trust))
    except TimeoutError as error:
        what = say("did not accept a connection within {seconds} s", seconds=f"{seconds:g}")
        raise Broken(f"{what} through {proxy.name}" if proxy else what) from error


async def _dial(address: Address, trust: _Trust | None) -> Wire:
    wire = await _connect(address)
    if trust is not None and address.secure:
        await _encrypt(wire, address, trust)
    return wire


async def _dial_proxy(address: Address, proxy: Proxy, trust: _Trust | None) -> Wire:
    with _said_of(proxy.name):
        wire = await _dial(proxy.address, trust)
        if trust is None or not address.secure:
            return wire
        await _open_tunnel(wire, address, proxy)
    await _encrypt(wire, address, trust)
    return wire


async def _connect(address: Address) -> Wire:
    """The addresses of a name are tried in turn; if all fail, the first failure is the one to tell."""
    loop = asyncio.get_running_loop()
    try:
        *others, last = await _resolve(address)
    except (OSError, UnicodeError) as error:
        raise _unreachable(error) from error
    failure: OSError | None = None
    for host, seconds in [*((each, _NEXT_ADDRESS_SECONDS) for each in others), (last, None)]:
        try:
            async with asyncio.timeout(seconds):
                return (await loop.create_connection(Wire, host, address.port))[1]
        except OSError as error:
            failure = failure or error
    assert failure is not None
    raise _unreachable(failure) from failure


async def _resolve(address: Address) -> list[str]:
    try:
        return [str(ip_address(address.host))]
    except ValueError:
        pass  # a name
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


async def _encrypt(wire: Wire, address: Address, trust: _Trust) -> None:
    with _closed_on_failure(wire):
        try:
            await wire.start_tls(await trust, address.host)
        except ssl.SSLError as error:
            raise tls_failure(error) from error
        except OSError as error:
            raise _unreachable(error) from error


async def _open_tunnel(wire: Wire, address: Address, proxy: Proxy) -> None:
    target = address.host_and_port
    lines = [f"CONNECT {target} HTTP/1.1", f"host: {target}"]
    lines += [f"{name}: {value}" for name, value in proxy.headers.items()]
    with _closed_on_failure(wire):
        wire.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        head, _ = await receive_head(wire, idle_seconds=None)
        if not 200 <= head.status < 300:
            what = f"did not open a connection to {target}: it answered {head.status}"
            hint = f"Check the user and the password in {proxy.variable}." if head.status == 407 else ""
            raise Broken(what, hint=hint, retryable=head.status >= 500)


@contextmanager
def _closed_on_failure(wire: Wire) -> Generator[None]:
    try:
        yield
    except BaseException:
        wire.close()
        raise


@contextmanager
def _said_of(who: str) -> Generator[None]:
    try:
        yield
    except Broken as broken:
        broken.who = who
        raise


def _unreachable(error: OSError | UnicodeError) -> Broken:
    """The system's own words for it, where it has some."""
    if isinstance(error, OSError) and error.errno and error.errno > 0:
        return Broken(say("cannot be reached: {why}", why=os.strerror(error.errno)))
    words = (error.strerror if isinstance(error, OSError) else str(error)) or "the connection broke"
    return Broken(say("cannot be reached: {why}", why=words))
