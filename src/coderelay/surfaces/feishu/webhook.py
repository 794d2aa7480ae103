"""The webhook: the platform sends its requests to this machine, through an HTTPS proxy in front of it.

Whoever finds the address can call it, so a call is believed only if the bytes of its body are signed with the app's
encrypt key. The one call that may come unsigned is the platform's test of the address, and it must carry the token.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import logging
import re
import socket
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import msgspec
import uvicorn
from msgspec import Struct

from coderelay.protocol.errors import CannotRun
from coderelay.protocol.translatable import say
from coderelay.surfaces.feishu.lark_sdk_partial_import import AESCipher
from coderelay.surfaces.feishu.parse_event import MOST_BYTES, EventRefused, RefusalReason
from coderelay.surfaces.feishu.receiver import FRESH_MS

MOST_BODY_BYTES = 2 * MOST_BYTES
"""An encrypted event is a third longer, and stands in a JSON object."""

_BODY_SECONDS = 5.0
_FUTURE_SECONDS = 300
_MOST_CALLS = 200
_TIMESTAMP, _NONCE, _SIGNATURE = "x-lark-request-timestamp", "x-lark-request-nonce", "x-lark-signature"
_STATUS: dict[RefusalReason, int] = {"malformed": 400, "too large": 413}

Message = dict[str, Any]
Receive = Callable[[bytes, str], Awaitable[dict[str, Any] | None]]
"""Takes an event and the token that it must carry, and returns the answer. Raises EventRefused."""

log = logging.getLogger(__name__)


class WebhookSecrets(Struct, frozen=True):
    encrypt_key: str
    token: str

    def __repr__(self) -> str:
        return "WebhookSecrets()"


class _Encrypted(Struct):
    encrypt: str


class _AddressTest(Struct):
    """The platform's test of the address."""

    challenge: str
    token: str
    type: str


class Webhook:
    def __init__(self, secrets: WebhookSecrets, receive: Receive) -> None:
        self._secrets = secrets
        self._receive = receive

    async def serve(self, listening: socket.socket, until: Awaitable[object], ready: Callable[[], None]) -> None:
        """Answer calls until `until` is done."""
        config = uvicorn.Config(
            self,
            interface="asgi3",
            log_config=None,
            lifespan="off",
            proxy_headers=False,
            server_header=False,
            limit_concurrency=_MOST_CALLS,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=3,
            h11_max_incomplete_event_size=32 * 1024,
        )
        await _Server(config, until, ready).serve([listening])

    async def __call__(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Any) -> None:
        if scope["type"] != "http":
            return
        status, answer = await self._answer(scope, receive)
        body = msgspec.json.encode(answer)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Message, receive: Callable[[], Awaitable[Message]]) -> tuple[int, dict[str, Any]]:
        if scope["method"] != "POST":
            return 405, {}
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                body = await _read(receive)
            return 200, await self.take(headers, body) or {}
        except EventRefused as refusal:
            log.warning("a call of the webhook is refused (%s)", refusal.reason)
            return _STATUS.get(refusal.reason, 403), {}
        except TimeoutError:
            return 408, {}
        except Exception:  # one request of the surface: the platform calls again
            log.exception("a call of the webhook could not be answered")
            return 500, {}

    async def take(self, headers: Mapping[str, str], body: bytes) -> dict[str, Any] | None:
        """Take a call, with its headers in lower case, and return the answer. Raises EventRefused."""
        timestamp, nonce, signature = (headers.get(name, "") for name in (_TIMESTAMP, _NONCE, _SIGNATURE))
        if timestamp or nonce or signature:
            self._check_signature(timestamp, nonce, signature, body)
            return await self._take_event(self._decrypt(body))
        test = self._address_test(body)
        if test is None:
            raise EventRefused("unsigned")
        return test

    def _check_signature(self, timestamp: str, nonce: str, signature: str, body: bytes) -> None:
        if not (timestamp and nonce and signature):
            raise EventRefused("unsigned", "a header is missing")
        said = hashlib.sha256((timestamp + nonce + self._secrets.encrypt_key).encode() + body).hexdigest()
        if not hmac.compare_digest(said.encode(), signature.encode()):
            raise EventRefused("forged")
        if not re.fullmatch(r"[0-9]{9,11}", timestamp):
            raise EventRefused("malformed", "the timestamp")
        age = time.time() - int(timestamp)
        if not -_FUTURE_SECONDS <= age <= FRESH_MS / 1000:
            raise EventRefused("stale", f"{age:.0f} seconds old")

    async def _take_event(self, event: bytes) -> dict[str, Any] | None:
        if (test := self._test_in(event)) is not None:
            return test
        return await self._receive(event, self._secrets.token)

    def _address_test(self, body: bytes) -> dict[str, Any] | None:
        with suppress(EventRefused):
            body = self._decrypt(body)
        return self._test_in(body)

    def _test_in(self, event: bytes) -> dict[str, Any] | None:
        try:
            test = msgspec.json.decode(event, type=_AddressTest)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        if test.type != "url_verification":
            return None
        if not hmac.compare_digest(test.token.encode(), self._secrets.token.encode()):
            raise EventRefused("token")
        return {"challenge": test.challenge[:1000]}

    def _decrypt(self, body: bytes) -> bytes:
        try:
            encrypted = msgspec.json.decode(body, type=_Encrypted).encrypt
            return bytes(AESCipher(self._secrets.encrypt_key).decrypt(base64.b64decode(encrypted, validate=True)))
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError, binascii.Error) as error:
            raise EventRefused("malformed", "the body is not encrypted with the key of this app") from error


class _Server(uvicorn.Server):
    """Leaves signals to the command line, and waits for one event."""

    def __init__(self, config: uvicorn.Config, until: Awaitable[object], ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._until = until
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def main_loop(self) -> None:
        self._ready()
        await self._until


async def _read(receive: Callable[[], Awaitable[Message]]) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise EventRefused("malformed", "the call was broken off")
        body += message.get("body", b"")
        if len(body) > MOST_BODY_BYTES:
            raise EventRefused("too large")
        if not message.get("more_body"):
            return bytes(body)


def listen(host: str, port: int) -> socket.socket:
    """Raises CannotRun if the port cannot be had."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        raise CannotRun(
            say("cannot listen at {address} port {port}: {why}", address=host, port=port, why=error.strerror or "")
        ) from error
    return listening
