"""Opens connections to a server: through a proxy if there is one, with TLS if the URL is https."""

import asyncio
import os
import socket
import ssl
from binascii import b2a_base64
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from coderelay.http.errors import ServerMisbehaved
from coderelay.http.server_url import Address, parse_address, without_user
from coderelay.http.socket_connection import SocketConnection
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.translatable import say

_NEXT_ADDRESS_SECONDS = 5.0  # some addresses never respond, often an IPv6 one
_Trust = asyncio.Future[ssl.SSLContext]
_HINT = "If the server can be trusted, let SSL_CERT_FILE name a file with its certificate, or its issuer's (PEM)."


class Proxy(Struct, frozen=True):
    address: Address
    authorization: str  # the value of the Proxy-Authorization header, or empty
    variable: str  # the environment variable that names it

    @property
    def name(self) -> str:
        return say("the proxy at {host} ({variable})", host=self.address.netloc, variable=self.variable)

    @property
    def headers(self) -> dict[str, str]:
        return {"proxy-authorization": self.authorization} if self.authorization else {}


async def dial(address: Address, proxy: Proxy | None, env: Mapping[str, str], seconds: float) -> SocketConnection:
    """Return a connection that is ready for HTTP. `seconds` is the time limit for all steps together. Raises
    Broken."""
    secure = address.secure or (proxy is not None and proxy.address.secure)
    trust = load_trust(env) if secure else None
    try:
        async with asyncio.timeout(seconds):
            return await (_dial_proxy(address, proxy, trust) if proxy else _dial(address, trust))
    except TimeoutError as error:
        what = say("did not accept a connection within {seconds} s", seconds=f"{seconds:g}")
        if proxy is not None:
            what = say("{problem} through {proxy}", problem=what, proxy=proxy.name)
        raise ServerMisbehaved(what) from error


async def _dial(address: Address, trust: _Trust | None) -> SocketConnection:
    wire = await _connect(address)
    if trust is not None and address.secure:
        await _encrypt(wire, address, trust)
    return wire


async def _dial_proxy(address: Address, proxy: Proxy, trust: _Trust | None) -> SocketConnection:
    with _said_of(proxy.name):
        wire = await _dial(proxy.address, trust)
        if trust is None or not address.secure:
            return wire
        await _open_tunnel(wire, address, proxy)
    await _encrypt(wire, address, trust)
    return wire


async def _connect(address: Address) -> SocketConnection:
    """Try the addresses of the host name in turn. If all fail, the first failure is reported."""
    loop = asyncio.get_running_loop()
    try:
        *others, last = await _resolve(address)
    except (OSError, UnicodeError) as error:
        raise _unreachable(error) from error
    failure: OSError | None = None
    for host, seconds in [*((each, _NEXT_ADDRESS_SECONDS) for each in others), (last, None)]:
        try:
            async with asyncio.timeout(seconds):
                return (await loop.create_connection(SocketConnection, host, address.port))[1]
        except OSError as error:
            failure = failure or error
    assert failure is not None
    broken = _unreachable(failure)
    broken.is_off = isinstance(failure, ConnectionRefusedError) and ip_address(last).is_loopback
    raise broken from failure


async def _resolve(address: Address) -> list[str]:
    try:
        return [str(ip_address(address.host))]
    except ValueError:
        pass  # it is a name
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


async def _encrypt(wire: SocketConnection, address: Address, trust: _Trust) -> None:
    with _closed_on_failure(wire):
        try:
            await wire.start_tls(await trust, address.host)
        except ssl.SSLError as error:
            raise tls_failure(error) from error
        except OSError as error:
            raise _unreachable(error) from error


async def _open_tunnel(wire: SocketConnection, address: Address, proxy: Proxy) -> None:
    from coderelay.http.response_decoder import receive_head  # the client loads it after its first request

    target = address.host_and_port
    lines = [f"CONNECT {target} HTTP/1.1", f"host: {target}"]
    lines += [f"{name}: {value}" for name, value in proxy.headers.items()]
    with _closed_on_failure(wire):
        wire.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        head, _ = await receive_head(wire, idle_seconds=None)
        if not 200 <= head.status < 300:
            what = say(
                "did not open a connection to {target}: it answered {status}", target=target, status=head.status
            )
            hint = (
                say("Check the user name and password in {variable}.", variable=proxy.variable)
                if head.status == 407
                else ""
            )
            raise ServerMisbehaved(what, hint=hint, retryable=head.status >= 500)


@contextmanager
def _closed_on_failure(wire: SocketConnection) -> Generator[None]:
    try:
        yield
    except BaseException:
        wire.close()
        raise


@contextmanager
def _said_of(who: str) -> Generator[None]:
    try:
        yield
    except ServerMisbehaved as broken:
        broken.who = who
        raise


def _unreachable(error: OSError | UnicodeError) -> ServerMisbehaved:
    """Use the operating system's own error message, where there is one."""
    if isinstance(error, OSError) and error.errno and error.errno > 0:
        return ServerMisbehaved(say("cannot be reached: {why}", why=os.strerror(error.errno)))
    words = (error.strerror if isinstance(error, OSError) else str(error)) or say("the connection broke")
    return ServerMisbehaved(say("cannot be reached: {why}", why=words))


def load_trust(env: Mapping[str, str]) -> asyncio.Future[ssl.SSLContext]:
    """Start loading the trusted certificates at once, in a thread: the first time in a process, it takes as long as
    connecting does."""
    loading = asyncio.get_running_loop().run_in_executor(
        None, _context, env.get("SSL_CERT_FILE", ""), env.get("SSL_CERT_DIR", "")
    )
    # Connecting may fail first, and then nobody awaits this: the exception is retrieved so asyncio does not warn.
    loading.add_done_callback(lambda done: done.cancelled() or done.exception())
    return loading


def tls_failure(error: ssl.SSLError) -> ServerMisbehaved:
    if isinstance(error, ssl.SSLCertVerificationError):
        what = say("shows a certificate that cannot be trusted: {why}", why=error.verify_message)
        return ServerMisbehaved(what, hint=_HINT, retryable=False)
    reason = (error.reason or str(error)).replace("_", " ").lower()
    return ServerMisbehaved(
        say("does not speak TLS as it should: {why}", why=reason),
        hint="Is the address really https?",
        retryable=False,
    )


@lru_cache(maxsize=8)
def _context(file: str, directory: str) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=file or None, capath=directory or None)
    except OSError as error:  # includes SSLError, for a file without a certificate
        raise _unusable(file, directory, error) from error
    context.set_alpn_protocols(["http/1.1"])
    return context


def _unusable(file: str, directory: str, error: OSError) -> ServerMisbehaved:
    named = " and ".join(f"{name}={value}" for name, value in _named(file, directory) if value)
    return ServerMisbehaved(
        say(
            "cannot be checked: {path} cannot be read ({why})",
            path=named or say("the certificates of this system"),
            why=error.strerror or error,
        ),
        hint="Let SSL_CERT_FILE name a file with certificates (PEM).",
        retryable=False,
    )


def _named(file: str, directory: str) -> tuple[tuple[str, str], ...]:
    return (("SSL_CERT_FILE", file), ("SSL_CERT_DIR", directory))


def proxy_for(address: Address, env: Mapping[str, str]) -> Proxy | None:
    """Return the proxy that the environment names for this address. Raises ModelFailed if it cannot be used."""
    if _is_loopback(address.host) or any(_covers(each, address) for each in _no_proxy(env)):
        return None
    for name in (f"{address.scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            if url := env.get(variable, "").strip():
                return _proxy(url, variable)
    return None


def _proxy(url: str, variable: str) -> Proxy:
    url = url if "://" in url else f"http://{url}"
    address = parse_address(url)
    if address is None:
        hint = "It must look like http://host:port; SOCKS is not spoken here."
        raise ModelFailed(
            say("{variable} names a proxy that cannot be used: {url}", variable=variable, url=without_user(url)),
            hint=hint,
        )
    return Proxy(address, _basic(url), variable)


def _basic(url: str) -> str:
    parts = urlsplit(url)
    if not parts.username:
        return ""
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return "Basic " + b2a_base64(user.encode(), newline=False).decode()


def _no_proxy(env: Mapping[str, str]) -> Iterator[str]:
    value = env.get("no_proxy") or env.get("NO_PROXY") or ""
    return (entry.lower() for entry in value.replace(",", " ").split())


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _covers(entry: str, address: Address) -> bool:
    """Return whether an entry of `no_proxy` matches. An entry is `*`, a domain including its subdomains, an IP
    address or a network; a port may follow."""
    if entry == "*":
        return True
    try:
        return ip_address(address.host) in ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass  # one of the two is a name, or the entry has a port
    name, colon, port = entry.rpartition(":")
    if not colon or not port.isdigit():
        name, port = entry, str(address.port)
    name = name.strip("[]").removeprefix("*").removeprefix(".")
    return port == str(address.port) and (address.host == name or address.host.endswith(f".{name}"))
