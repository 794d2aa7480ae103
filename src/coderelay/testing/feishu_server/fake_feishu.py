"""The fake platform: an HTTP and WebSocket server in a thread of its own."""

import asyncio
import json
import secrets
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Any, Self
from urllib.parse import parse_qsl

import uvicorn

from coderelay.testing.feishu_server.connections import ConnectionLost, Connections, EventAnswer, ServedLongConnection
from coderelay.testing.feishu_server.faults import Fault, Faults
from coderelay.testing.feishu_server.person_in_chat import FakeChat, FakePerson
from coderelay.testing.feishu_server.platform_api import ApiRefused, PlatformApi
from coderelay.testing.feishu_server.webhook_signing import SignedCall, signed_call

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_ENDPOINT = "/callback/ws/endpoint"


class FakeFeishu:
    """One app of one tenant. Use as a context manager. `webhook` is the address that events are sent to instead of
    the long connection, once it is set."""

    def __init__(self, seconds: float = 60.0) -> None:
        name = secrets.token_hex(4)
        self.app_id, self.app_secret = f"cli_{name}", f"secret-{name}"
        self.encrypt_key, self.verification_token = f"encrypt-{name}", f"verify-{name}"
        self.tenant, self.bot = f"tenant_{name}", f"ou_bot_{name}"
        self.api = PlatformApi(self.app_id, self.app_secret, self.bot)
        self.connections = Connections()
        self.faults = Faults()
        self.requests: list[str] = []
        self.webhook = ""
        self.seconds = seconds
        self._tickets: set[str] = set()
        self._chats: dict[str, FakeChat] = {}
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio: no delay
        listening.bind(("127.0.0.1", 0))
        listening.listen(1024)
        self._socket = listening
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(
            self._serve,
            interface="asgi3",
            log_config=None,
            lifespan="off",
            proxy_headers=False,
            ws="websockets-sansio",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self.connections.drop_all()
        self._thread.join()
        self._socket.close()

    def person(self, open_id: str) -> FakePerson:
        return FakePerson(self, open_id)

    def group(self, chat_id: str) -> FakeChat:
        return self.chat(chat_id, "group")

    def chat(self, chat_id: str, kind: str) -> FakeChat:
        if chat_id not in self._chats:
            self._chats[chat_id] = FakeChat(self, chat_id, kind)
        return self._chats[chat_id]

    def fail(self, pattern: str, **how: Any) -> None:
        """See Fault."""
        self.faults.add(Fault(pattern, **how))

    def event(self, kind: str, event: dict[str, Any], **header: Any) -> dict[str, Any]:
        """A whole event, with the header that the platform would give it."""
        made = {
            "event_id": secrets.token_hex(16),
            "event_type": kind,
            "create_time": str(int(time.time() * 1000)),
            "token": self.verification_token,
            "app_id": self.app_id,
            "tenant_key": self.tenant,
        }
        return {"schema": "2.0", "header": {**made, **header}, "event": event}

    def deliver(self, event: dict[str, Any]) -> EventAnswer:
        """Give an event to one bot, and again to any after a lost connection, until one has answered."""
        until = time.monotonic() + self.seconds
        while True:
            if self.webhook:
                return self._call_webhook(signed_call(event, self.encrypt_key))
            connection = self.connections.any(until - time.monotonic())
            try:
                return connection.push(secrets.token_hex(8), json.dumps(event).encode()).result(self.seconds)
            except ConnectionLost:
                continue

    def wait_for_request(self, request: str, count: int) -> None:
        """Wait until so many requests "METHOD path" have come."""
        found = self.api.wait(lambda: self.requests.count(request) >= count, self.seconds)
        assert found, self.requests

    def call_webhook(self, call: SignedCall) -> tuple[int, bytes]:
        """Make a webhook call as it is. Returns the HTTP status and the body of the answer."""
        request = urllib.request.Request(self.webhook, call.body, call.headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=self.seconds) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def _call_webhook(self, call: SignedCall) -> EventAnswer:
        status, body = self.call_webhook(call)
        return EventAnswer(status, json.loads(body or b"null"))

    def _run(self) -> None:
        asyncio.run(self._server.serve([self._socket]))

    async def _serve(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._serve_socket(scope, receive, send)
            return
        body, method, path = await _body(receive), scope["method"], scope["path"]
        if body is None:
            return
        with self.api.changed:
            self.requests.append(f"{method} {path}")
            self.api.changed.notify_all()
        fault = self.faults.take(f"{method} {path}")
        if fault is not None and fault.delay:
            await asyncio.sleep(fault.delay)
        if fault is None or fault.after:
            status, answer = self._answer(method, path, scope, body)
        else:
            status, answer = fault.status, {"code": fault.code, "msg": "a fault of the test"}
        if fault is not None and fault.drops:
            getattr(send, "__self__").transport.abort()  # noqa: B009  # the protocol of ASGI hides it
            return
        content = json.dumps(answer).encode()
        headers = [(b"content-type", b"application/json; charset=utf-8"), (b"content-length", b"%d" % len(content))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def _answer(self, method: str, path: str, scope: Any, body: bytes) -> tuple[int, dict[str, Any]]:
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        query = dict(parse_qsl(scope["query_string"].decode()))
        given: Any = json.loads(body) if body else {}
        try:
            if (method, path) == ("POST", _ENDPOINT):
                return 200, self._endpoint(given)
            return 200, self.api.call(method, path, query, given, headers.get("authorization", ""))
        except ApiRefused as refused:
            return refused.status, {"code": refused.code, "msg": refused.text}

    def _endpoint(self, body: Any) -> dict[str, Any]:
        if (body.get("AppID"), body.get("AppSecret")) != (self.app_id, self.app_secret):
            return {"code": 1000040345, "msg": "invalid app_id or app_secret"}
        ticket = secrets.token_hex(8)
        self._tickets.add(ticket)
        url = f"ws{self.url.removeprefix('http')}/ws?device_id=d_{ticket}&service_id=1&ticket={ticket}"
        config = {"ReconnectCount": -1, "ReconnectInterval": 1, "ReconnectNonce": 0, "PingInterval": 5}
        return {"code": 0, "msg": "", "data": {"URL": url, "ClientConfig": config}}

    async def _serve_socket(self, scope: Any, receive: Receive, send: Send) -> None:
        ticket = dict(parse_qsl(scope["query_string"].decode())).get("ticket", "")
        assert (await receive())["type"] == "websocket.connect"
        if ticket not in self._tickets:
            await send({"type": "websocket.close", "code": 1008})
            return
        self._tickets.discard(ticket)
        await send({"type": "websocket.accept"})
        connection = ServedLongConnection(receive, send)
        self.connections.add(connection)
        try:
            await connection.serve()
        finally:
            self.connections.remove(connection)


async def _body(receive: Receive) -> bytes | None:
    """None if the client has gone in the middle of it."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body
