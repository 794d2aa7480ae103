"""What every request passes before it is routed: where it comes from, what it may be, and who sends it.

A page of another site that is open in the same browser can send requests to this server, and a name that it controls
can lead here (DNS rebinding). Such a request is refused for its Host, its Origin or its Sec-Fetch-Site, whatever else
it brings. There are no cookies that it could use, and no CORS headers that would let it read an answer.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coderelay.surfaces.web.token_and_login_links import Token

_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'"
)
HEADERS = (
    (b"content-security-policy", _PAGE_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_NO_STORE = (b"cache-control", b"no-store")
MOST_BODY_BYTES = 64 * 1024
BATCHED, PLAIN = "coder.v1.batch", "coder.v1"
_BEARER = "bearer."


class Addresses(Struct, frozen=True):
    """How this server is addressed: the Host headers and the Origins that are its own. `dev_origins` are those of a
    development server on this machine, whose pages are of the same site and not of the same origin."""

    hosts: frozenset[str]
    origins: frozenset[str]
    dev_origins: frozenset[str] = frozenset()


def addresses_of(address: str, port: int, dev_port: int | None = None) -> Addresses:
    """For a server that listens at a loopback address."""
    names = (f"[{address}]" if ":" in address else address, "localhost")
    hosts = frozenset({*(f"{name}:{port}" for name in names), *(names if port == 80 else ())})
    dev = () if dev_port is None else (f"http://localhost:{dev_port}",)
    return Addresses(hosts, frozenset(f"http://{host}" for host in hosts), frozenset(dev))


class RequestRefused(NamedTuple):
    status: int
    error: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Guard:
    """Lets through only requests that may be answered. `open_paths` are the paths that need no token."""

    def __init__(self, app: ASGIApp, addresses: Addresses, token: Token, open_paths: Iterable[str]) -> None:
        self._app = app
        self._addresses = addresses
        self._token = token
        self._open_paths = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return  # uvicorn runs without lifespan events
        headers = _Headers(scope["headers"])
        refused = (
            self._wrong_place(headers)
            or (_wrong_form(scope["method"], headers) if scope["type"] == "http" else None)
            or self._no_token(scope, headers)
        )
        if refused is not None:
            await _refuse(refused, scope, send)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        else:
            await self._app(scope, receive, _with_headers(send))

    def _wrong_place(self, headers: "_Headers") -> RequestRefused | None:
        if headers.all("host") not in [(each,) for each in self._addresses.hosts]:
            return RequestRefused(403, "this server is not meant by that name")
        origins = headers.all("origin")
        is_dev = len(origins) == 1 and origins[0] in self._addresses.dev_origins
        if origins and not is_dev and origins not in [(each,) for each in self._addresses.origins]:
            return RequestRefused(403, "requests from other sites are refused")
        fetched = headers.all("sec-fetch-site")
        if fetched and fetched not in (("same-origin",), ("none",)) and not (is_dev and fetched == ("same-site",)):
            return RequestRefused(403, "requests from other sites are refused")
        return None

    def _no_token(self, scope: Scope, headers: "_Headers") -> RequestRefused | None:
        if scope["type"] == "http" and scope["path"] in self._open_paths:
            return None
        presented = _presented(headers, is_websocket=scope["type"] == "websocket")
        if presented is not None and self._token.matches(presented):
            return None
        if presented is not None and self._token.is_guessed_at:
            return RequestRefused(429, "too many wrong tokens", ((b"retry-after", b"10"),))
        return RequestRefused(401, "a token is needed; open the link that `coder web` prints", (_CHALLENGE,))


_CHALLENGE = (b"www-authenticate", b"Bearer")


class _Headers:
    def __init__(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        self._pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in pairs]

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(value for each, value in self._pairs if each == name)


def _wrong_form(method: str, headers: _Headers) -> RequestRefused | None:
    """Reads are without a body, writes are JSON. A form or a script of another site cannot send that without asking
    first, and nobody answers such a question here."""
    if method not in ("GET", "HEAD", "POST"):
        return RequestRefused(405, "only GET, HEAD and POST are understood", ((b"allow", b"GET, HEAD, POST"),))
    lengths = headers.all("content-length")
    if method != "POST":
        has_body = headers.all("transfer-encoding") or any(each != "0" for each in lengths)
        return RequestRefused(400, "a request of this kind has no body") if has_body else None
    types = [each.partition(";")[0].strip().lower() for each in headers.all("content-type")]
    if types != ["application/json"]:
        return RequestRefused(415, "the body must be application/json")
    if lengths and not (lengths[0].isdecimal() and int(lengths[0][:12]) <= MOST_BODY_BYTES):
        return RequestRefused(413, "the body is too large")
    return None


def _presented(headers: _Headers, *, is_websocket: bool) -> str | None:
    """The token that a request brings, or None. A browser cannot set headers of a WebSocket, only subprotocols."""
    found = [value for each in headers.all("authorization") for value in _bearer_of(each)]
    if is_websocket:
        found += [each.removeprefix(_BEARER) for each in _offered(headers) if each.startswith(_BEARER)]
    return found[0] if len(found) == 1 else None


def _bearer_of(value: str) -> list[str]:
    scheme, _, token = value.partition(" ")
    return [token.strip()] if scheme.lower() == "bearer" else []


def _offered(headers: _Headers) -> list[str]:
    return [each.strip() for value in headers.all("sec-websocket-protocol") for each in value.split(",")]


def chosen_subprotocol(offered: Iterable[str]) -> str | None:
    """The subprotocol chosen for a client among those that it offers and this server knows; never the one that holds
    the token."""
    names = set(offered)
    return next((each for each in (BATCHED, PLAIN) if each in names), None)


async def _refuse(refused: RequestRefused, scope: Scope, send: Send) -> None:
    """Answer without reading the body, and close the connection. A WebSocket is refused before it is accepted."""
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    body = error_body(refused.error)
    headers = [
        *HEADERS,
        _NO_STORE,
        *refused.headers,
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": f"{kind}.start", "status": refused.status, "headers": headers})
    await send({"type": f"{kind}.body", "body": b"" if scope.get("method") == "HEAD" else body})


def error_body(error: str, **more: object) -> bytes:
    return json.dumps({"error": error, **more}, ensure_ascii=False).encode()


def _with_headers(send: Send) -> Send:
    """The headers of every answer. A browser may keep none that does not say so itself."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [*message.get("headers", ())]
            is_kept = any(name == b"cache-control" for name, _ in own)
            message["headers"] = [*own, *HEADERS, *(() if is_kept else (_NO_STORE,))]
        await send(message)

    return send_with_headers
