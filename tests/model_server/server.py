"""The scripted model server itself: it accepts, checks, records and answers."""

import asyncio
from asyncio import StreamReader, StreamWriter, Task
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import msgspec
from msgspec import Struct

from tests.model_server import openai_chat, openai_responses
from tests.model_server.answers import Answer
from tests.model_server.anthropic import Anthropic
from tests.model_server.connection import HEAD_BYTES, Connection, HttpRequest
from tests.model_server.delivery import JSON, deliver
from tests.model_server.script import Playback, Script
from tests.model_server.violation import Refused, Violation
from tests.model_server.wire_form import Asked, Body, WireForm

FORMS: tuple[WireForm, ...] = (openai_chat, openai_responses)


@asynccontextmanager
async def model_server(script: Script, *, port: int = 0) -> AsyncGenerator["ModelServer"]:
    """A server in the running loop. Leaving closes every connection and awaits its task."""
    server = ModelServer(script)
    await server.start(port)
    try:
        yield server
    finally:
        await server.stop()


class Received(Struct, frozen=True):
    """A request with a readable body, accepted or not. Kept as bytes: long sessions repeat themselves."""

    path: str
    headers: dict[str, str]
    raw: bytes
    arrived: float  # time.perf_counter() when its last byte was here

    @property
    def body(self) -> Body:
        return _decode(self.raw)

    @property
    def size(self) -> int:
        return len(self.raw)


class ModelServer:
    """`violations` holds whatever the server refused by itself; what the script refuses is not in it."""

    def __init__(self, script: Script) -> None:
        self.base_url = ""  # known once started
        self.received: list[Received] = []
        self.violations: list[Violation] = []
        self._playback = Playback(script)
        self._forms: tuple[WireForm, ...] = (*FORMS, Anthropic())
        self._arrival = asyncio.Event()
        self._connections: dict[Task[None], StreamWriter] = {}

    @property
    def requests(self) -> list[Body]:
        return [received.body for received in self.received]

    async def wait_for_requests(self, n: int) -> None:
        while len(self.received) < n:
            await self._arrival.wait()

    async def start(self, port: int = 0) -> None:
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", port, limit=HEAD_BYTES)
        self.base_url = f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}/v1"

    async def stop(self) -> None:
        self._listener.close()
        open_connections = dict(self._connections)
        for task, writer in open_connections.items():
            task.cancel()
            writer.transport.abort()  # a task cancelled before its first step cannot do it
        if open_connections:
            await asyncio.wait(open_connections)
        await self._listener.wait_closed()

    def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        if not self._listener.is_serving():
            writer.transport.abort()
            return
        task = asyncio.create_task(self._serve(Connection(reader, writer)))
        self._connections[task] = writer
        task.add_done_callback(self._forget)

    def _forget(self, task: Task[None]) -> None:
        del self._connections[task]
        if not task.cancelled() and (fault := task.exception()):
            self.violations.append(_fault(fault))

    async def _serve(self, connection: Connection) -> None:
        try:
            with suppress(ConnectionError):  # the client left; nobody to tell
                while await self._serve_one(connection):
                    pass
        finally:
            await connection.drop()

    async def _serve_one(self, connection: Connection) -> bool:
        """Whether the connection can carry another request."""
        try:
            request = await connection.read_request()
        except Refused as refused:
            await self._refuse(refused.violation, connection, FORMS[0])
            return False
        if request is None:
            return False
        return await self._answer(request, connection) and not request.is_last

    async def _answer(self, request: HttpRequest, connection: Connection) -> bool:
        form = next((form for form in self._forms if request.path == form.PATH), FORMS[0])
        try:
            if request.path == "/v1/models":
                await self._list_models(request, connection)
                return True
            asked = self._admit(request, form)
            answer = await self._next_answer(asked)
        except Refused as refused:
            await self._refuse(refused.violation, connection, form)
            return True
        return await deliver(answer, form, asked, connection)

    def _admit(self, request: HttpRequest, form: WireForm) -> Asked:
        _check_route(request, "POST", form.PATH)
        _check_key(request, form)
        body = _decode(request.body)
        self._record(request)
        return form.accept(body, request.body)

    def _record(self, request: HttpRequest) -> None:
        self.received.append(Received(request.path, request.headers, request.body, request.arrived))
        self._arrival.set()
        self._arrival = asyncio.Event()

    async def _next_answer(self, asked: Asked) -> Answer:
        try:
            return await self._playback.next(asked)
        except Refused:
            raise
        except Exception as fault:
            # A mistake in a test's own function: the client gets an answer, the test a violation.
            raise Refused(f"the script failed: {fault!r}", status=500) from fault

    async def _list_models(self, request: HttpRequest, connection: Connection) -> None:
        _check_route(request, "GET", "/v1/models")
        _check_key(request, openai_chat)
        await connection.send(200, JSON, openai_chat.models())

    async def _refuse(self, violation: Violation, connection: Connection, form: WireForm) -> None:
        self.violations.append(violation)
        body = form.error(violation.status, violation.message, violation.param, violation.code)
        await connection.send(violation.status, JSON, body)


def _check_route(request: HttpRequest, method: str, path: str) -> None:
    if request.path != path:
        raise Refused(f"unknown address {request.path}", status=404)
    if request.method != method:
        raise Refused(f"{request.path} takes {method}, not {request.method}", status=405)


def _check_key(request: HttpRequest, form: WireForm) -> None:
    if not form.is_authorised(request.headers):
        raise Refused("no API key was given", status=401, code="invalid_api_key")


def _decode(body: bytes) -> Body:
    try:
        return msgspec.json.decode(body, type=Body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise Refused(f"the body is not a JSON object: {wrong}") from wrong


def _fault(fault: BaseException) -> Violation:
    return Violation(f"the model server itself failed: {fault!r}", status=500)
