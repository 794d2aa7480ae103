"""JSON-RPC 2.0 over one transport: requests, answers and notifications in both directions.

Whatever arrives wrong is answered with the error that the standard names, and the connection stays. A peer with a
`Tolerance` is for programs that do not keep to the standard.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol, cast

import msgspec
from msgspec import Struct

from coderelay.protocol.translatable import encode_plain
from coderelay.wire.message_repair_and_flood_limits import Tolerance
from coderelay.wire.messages_and_errors import (
    CANCELLED,
    ID_CHARS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    MessageKey,
    NoAnswer,
    Params,
    PeerLost,
    PeerTimeout,
    RpcError,
    decoded,
    key_of,
    received_error,
)
from coderelay.wire.transport import Exchange, Oversized, Transport

log = logging.getLogger(__name__)

CANCEL = "$/cancel_request"
_HANDSHAKE = "initialize"
_IN_FLIGHT = 1000  # requests of the other side that are not answered yet
_ENDING_SECONDS = 0.05


class Reply(Struct, frozen=True):
    """The result of a request, and what is done once it is on its way: what is sent then arrives after it."""

    result: Any
    then: Callable[[], object]


class PeerRequest:
    """A request of the other side. A handler that sets `on_cancel` ends its work itself when the other side gives the
    request up; the task of another handler is cancelled, and the request is answered with CANCELLED."""

    def __init__(self, method: str, params: Params) -> None:
        self.method = method
        self.params = params
        self.on_cancel: Callable[[], None] | None = None


Method = Callable[[PeerRequest], Awaitable[Any]]


class Handler(Protocol):
    def find(self, method: str) -> Method | None:
        """What answers requests of this method; None if the method does not exist. Raises RpcError. The function is
        called in a task of its own; the tasks start in the order in which the requests arrive."""
        ...

    def notice(self, method: str, params: Params) -> None:
        """Take a notification. Called before the next message is read. Raises RpcError, which is logged, because a
        notification has no answer."""
        ...


Cancellation = Callable[[int, str], tuple[str, Params]]
"""The notification that a request of ours is given up: its method and parameters, from the id and a reason."""


def _cancel_request(number: int, reason: str) -> tuple[str, Params]:
    return CANCEL, {"requestId": number}


class Peer:
    """`end_reason` is the reason why the connection ended, to be put after the name of the other side; it is empty
    while the connection is open."""

    def __init__(
        self,
        transport: Transport,
        handler: Handler,
        tolerance: Tolerance | None = None,
        cancellation: Cancellation = _cancel_request,
    ) -> None:
        self.end_reason = ""
        self._transport = transport
        self._handler = handler
        self._tolerance = tolerance
        self._cancellation = cancellation
        self._reading: asyncio.Future[str] | None = None
        self._last_id = 0
        self._waiting_for_answer: dict[str, asyncio.Future[Any]] = {}
        self._requests: dict[object, tuple[PeerRequest, asyncio.Task[None]]] = {}

    async def serve(self) -> None:
        """Read messages until the connection has ended, and close it. Requests of either side that are not answered
        by then are given up."""
        reading = self._reading = asyncio.ensure_future(self._transport.deliver(self._take))
        try:
            if not self.end_reason:
                await asyncio.wait({reading})
            if reading.done() and not reading.cancelled():
                self.end_connection(reading.result())
        finally:
            self.end_connection("was closed")
            reading.cancel()
            tasks = [task for _, task in self._requests.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(reading, *tasks, return_exceptions=True)
            await self._transport.close()

    def end_connection(self, why: str) -> None:
        """End the connection, unless it has ended. `serve` closes it; whoever waits for an answer is told why."""
        if self.end_reason:
            return
        self.end_reason = why
        for answer in self._waiting_for_answer.values():
            if not answer.done():
                answer.set_exception(PeerLost(why))
        if self._reading is not None:
            self._reading.cancel()

    async def send_request(self, method: str, params: Params, limit: asyncio.Timeout | None = None) -> Any:
        """Send a request and return its result. Raises RpcError, NoAnswer, and what an exchange raises. `limit` is a
        time-out that nobody has entered; the caller may put it off. If this is cancelled or takes too long, the other
        side is told, and an answer that comes late is ignored."""
        if self.end_reason:
            raise PeerLost(self.end_reason)
        self._last_id += 1
        number = self._last_id
        answer = self._waiting_for_answer[str(number)] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # maybe nobody awaits it
        exchange = self._send({"id": number, "method": method, "params": params})
        if exchange is not None:
            exchange.add_done_callback(partial(_end_without_answer, answer))
        try:
            async with limit or asyncio.timeout(None):
                return await answer
        except TimeoutError as error:
            self._give_up(method, number, "it took too long")
            raise PeerTimeout("did not answer in time") from error
        except asyncio.CancelledError:
            self._give_up(method, number, "it is not wanted any more")
            raise
        finally:
            del self._waiting_for_answer[str(number)]
            if exchange is not None:
                await _end(exchange)

    def send_notification(self, method: str, params: Params) -> Exchange | None:
        """Send a notification. It arrives after everything that was sent before."""
        return self._send({"method": method, "params": params})

    async def drained(self) -> None:
        """Wait until the other side has read most of what was sent to it."""
        await self._transport.drained()

    def _give_up(self, method: str, number: int, reason: str) -> None:
        if method != _HANDSHAKE:  # it cannot be cancelled
            self.send_notification(*self._cancellation(number, reason))

    def _take(self, data: bytes | Oversized) -> None:
        if self.end_reason:
            return
        try:
            for message in [_value(data)] if self._tolerance is None else self._tolerance.repaired(data):
                self._sort(message)
        except RpcError as error:
            self._refuse(None, error)
        except PeerLost as lost:
            self.end_connection(lost.what)

    def _sort(self, message: object) -> None:
        if not isinstance(message, dict):
            raise RpcError(INVALID_REQUEST, "a message is one JSON object")
        fields = cast("Params", message)
        key = key_of(fields.get("id"))
        try:
            if fields.get("jsonrpc") != "2.0":
                raise RpcError(INVALID_REQUEST, 'a message has "jsonrpc": "2.0"')
            if "method" not in fields:
                self._take_answer(fields)
                return
            method, params = fields["method"], fields.get("params")
            if not isinstance(method, str):
                raise RpcError(INVALID_REQUEST, "a method is a text")
            if "id" not in fields:
                self._take_notification(method, params)
            elif fields["id"] is not None and key is None:
                raise RpcError(INVALID_REQUEST, "an id is a number or a short text")
            else:
                self._take_request(key, method, params)
        except RpcError as error:
            self._refuse(key, error)

    def _take_answer(self, fields: Params) -> None:
        """An answer that nobody waits for is late: its request was given up."""
        error, is_answer = fields.get("error"), "result" in fields or fields.get("error") is not None
        answer = self._waiting_for_answer.get(str(fields.get("id")))
        if answer is None or answer.done():
            if not is_answer:
                raise RpcError(INVALID_REQUEST, "a message has a method, a result or an error")
            return
        if self._tolerance is not None:
            self._tolerance.note_answer()
        if not is_answer:
            answer.set_exception(NoAnswer("sent an answer without a result"))
        elif error is not None:
            answer.set_exception(received_error(error))
        else:
            answer.set_result(fields["result"])

    def _take_notification(self, method: str, params: Any) -> None:
        """A notification is never answered, whatever is wrong with it."""
        if method == CANCEL:
            asyncio.get_running_loop().call_soon(self._cancel, params)  # after the start of a task that it means
            return
        try:
            self._handler.notice(method, _checked(params))
        except RpcError as error:
            log.warning("the notification %r was not understood: %s", method[:ID_CHARS], error.message)

    def _take_request(self, key: MessageKey, method: str, params: Any) -> None:
        place: object = object() if key is None else key  # several may have the id null
        if place in self._requests:
            raise RpcError(INVALID_REQUEST, "another request with this id is not answered yet")
        if self._tolerance is not None:
            self._tolerance.check_requests(len(self._requests))
        elif len(self._requests) >= _IN_FLIGHT:
            raise RpcError(INTERNAL_ERROR, f"more than {_IN_FLIGHT} requests are not answered yet")
        answer = self._handler.find(method) or _not_found
        request = PeerRequest(method, _checked(params))
        task = asyncio.get_running_loop().create_task(self._answer(place, key, request, answer))
        self._requests[place] = request, task

    async def _answer(self, place: object, key: MessageKey, request: PeerRequest, answer: Method) -> None:
        try:
            exchange = await self._answered(key, request, answer)
            if exchange is not None:
                await asyncio.wait({exchange})  # what the other side has not read counts as not answered
        finally:
            self._requests.pop(place, None)

    async def _answered(self, key: MessageKey, request: PeerRequest, answer: Method) -> Exchange | None:
        try:
            result = await answer(request)
        except RpcError as error:
            return self._refuse(key, error)
        except asyncio.CancelledError:
            self._refuse(key, RpcError(CANCELLED, "the request was cancelled"))
            raise
        except Exception as error:
            log.exception("the request %s failed", request.method)
            return self._refuse(key, RpcError(INTERNAL_ERROR, f"internal error: {type(error).__name__}"))
        reply = result if isinstance(result, Reply) else None
        exchange = self._send({"id": key, "result": result if reply is None else reply.result})
        if reply is not None:
            reply.then()
        return exchange

    def _cancel(self, params: Any) -> None:
        wanted = cast("Params", params).get("requestId") if isinstance(params, dict) else None
        request, task = self._requests.get(key_of(wanted), (None, None))
        if request is not None and request.on_cancel is not None:
            request.on_cancel()
        elif task is not None:
            task.cancel()

    def _refuse(self, key: MessageKey, error: RpcError) -> Exchange | None:
        return self._send({"id": key, "error": error.fields})

    def _send(self, fields: Params) -> Exchange | None:
        if self.end_reason:
            return None
        return self._transport.send(msgspec.json.encode({"jsonrpc": "2.0", **fields}, enc_hook=encode_plain))


def _value(data: bytes | Oversized) -> object:
    if isinstance(data, Oversized):
        raise RpcError(INVALID_REQUEST, "the message is too large")
    try:
        return decoded(data)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"the message is not JSON: {error}") from error


def _checked(params: Any) -> Params:
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params are a JSON object")
    return cast("Params", params)


async def _not_found(request: PeerRequest) -> None:
    raise RpcError(METHOD_NOT_FOUND, f"{request.method[:ID_CHARS]} is not offered here")


def _end_without_answer(answer: asyncio.Future[Any], exchange: Exchange) -> None:
    if not answer.done():
        problem = None if exchange.cancelled() else exchange.exception()
        answer.set_exception(problem or NoAnswer("ended its answer before the result"))


async def _end(exchange: Exchange) -> None:
    """The answer may have arrived while its connection is still open. One that ends within `_ENDING_SECONDS` can be
    used again."""
    try:
        await asyncio.wait({exchange}, timeout=_ENDING_SECONDS)
    finally:
        exchange.cancel()
        await asyncio.gather(exchange, return_exceptions=True)
