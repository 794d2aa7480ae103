"""JSON-RPC 2.0 over one transport: requests, answers and notifications in both directions.

Whatever arrives wrong is answered with the error that the standard names, and the connection stays.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, cast

import msgspec
from msgspec import Struct

from coderelay.protocol.translatable import encode_plain
from coderelay.wire.errors import (
    CANCELLED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    PeerLost,
    PeerTimeout,
    RpcError,
)
from coderelay.wire.transport import Oversized, Transport

log = logging.getLogger(__name__)

CANCEL = "$/cancel_request"
_IN_FLIGHT = 1000  # requests of the other side that are not answered yet
_ID_CHARS = 256
Params = dict[str, Any]
MessageKey = str | int | float | None
"""The id of a request."""


class Reply(Struct, frozen=True):
    """The result of a request, and what is done once it is on its way: what is sent then arrives after it."""

    result: Any
    then: Callable[[], None]


class Request:
    """A request of the other side. A handler that sets `on_cancel` ends its work itself when the other side gives the
    request up; the task of another handler is cancelled, and the request is answered with CANCELLED."""

    def __init__(self, method: str, params: Params) -> None:
        self.method = method
        self.params = params
        self.on_cancel: Callable[[], None] | None = None


class Handler(Protocol):
    def find(self, method: str) -> Callable[[Request], Awaitable[Any]] | None:
        """What answers requests of this method; None if the method does not exist. Raises RpcError. The function is
        called in a task of its own; the tasks start in the order in which the requests arrive."""
        ...

    def notice(self, method: str, params: Params) -> None:
        """Take a notification. Called before the next message is read. Raises RpcError, which is logged, because a
        notification has no answer."""
        ...


class Peer:
    def __init__(self, transport: Transport, handler: Handler) -> None:
        self._transport = transport
        self._handler = handler
        self._is_lost = False
        self._last_id = 0
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._requests: dict[MessageKey, tuple[Request, asyncio.Task[None]]] = {}

    async def serve(self) -> None:
        """Read messages until the other side has closed the connection. Then requests of either side that are not
        answered are given up."""
        try:
            while (data := await self._transport.receive()) is not None:
                self._take(data)
                await self._transport.drained()
        finally:
            await self._lose()

    async def ask(self, method: str, params: Params, seconds: float | None = None) -> Any:
        """Send a request and return its result. Raises RpcError, PeerTimeout and PeerLost. If this is cancelled or
        takes too long, the other side is told, and an answer that comes late is ignored."""
        if self._is_lost:
            raise PeerLost
        self._last_id += 1
        number = self._last_id
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, "method": method, "params": params})
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError as error:
            self.tell(CANCEL, {"requestId": number})
            raise PeerTimeout(f"{method} was not answered within {seconds} s") from error
        except asyncio.CancelledError:
            self.tell(CANCEL, {"requestId": number})
            raise
        finally:
            del self._asked[number]

    def tell(self, method: str, params: Params) -> None:
        """Send a notification. It arrives after everything that was sent before."""
        self._send({"method": method, "params": params})

    async def drained(self) -> None:
        """Wait until the other side has read most of what was sent to it."""
        await self._transport.drained()

    def _take(self, data: bytes | Oversized) -> None:
        if isinstance(data, Oversized):
            self._refuse(None, RpcError(INVALID_REQUEST, "the message is too large"))
            return
        try:
            message = decoded(data)
        except ValueError as error:
            self._refuse(None, RpcError(PARSE_ERROR, f"the message is not JSON: {error}"))
            return
        key = _key(message)
        try:
            self._sort(message)
        except RpcError as error:
            self._refuse(key, error)

    def _sort(self, message: object) -> None:
        if not isinstance(message, dict):
            raise RpcError(INVALID_REQUEST, "a message is one JSON object")
        fields = cast("dict[str, Any]", message)
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
        elif fields["id"] is not None and _key(fields) is None:
            raise RpcError(INVALID_REQUEST, "an id is a number or a short text")
        else:
            self._take_request(_key(fields), method, params)

    def _take_answer(self, fields: Params) -> None:
        if "result" not in fields and "error" not in fields:
            raise RpcError(INVALID_REQUEST, "a message has a method, a result or an error")
        key = _key(fields)
        answer = self._asked.get(key) if isinstance(key, int) else None
        if answer is None or answer.done():
            return  # late: the request was given up
        if fields.get("error") is not None:
            answer.set_exception(_error(fields["error"]))
        else:
            answer.set_result(fields.get("result"))

    def _take_notification(self, method: str, params: Any) -> None:
        """A notification is never answered, whatever is wrong with it."""
        if method == CANCEL:
            asyncio.get_running_loop().call_soon(self._give_up, params)  # after the start of a task that it means
            return
        try:
            self._handler.notice(method, _checked(params))
        except RpcError as error:
            log.warning("the notification %r was not understood: %s", method[:_ID_CHARS], error.message)

    def _take_request(self, key: MessageKey, method: str, params: Any) -> None:
        if key is not None and key in self._requests:
            raise RpcError(INVALID_REQUEST, "another request with this id is not answered yet")
        if len(self._requests) >= _IN_FLIGHT:
            raise RpcError(INTERNAL_ERROR, f"more than {_IN_FLIGHT} requests are not answered yet")
        answer = self._handler.find(method)
        if answer is None:
            raise RpcError(METHOD_NOT_FOUND, f"there is no method {method[:_ID_CHARS]!r}")
        request = Request(method, _checked(params))
        task = asyncio.get_running_loop().create_task(self._answer(key, request, answer))
        self._requests[key] = request, task

    async def _answer(self, key: MessageKey, request: Request, answer: Callable[[Request], Awaitable[Any]]) -> None:
        try:
            result = await answer(request)
        except RpcError as error:
            self._refuse(key, error)
        except asyncio.CancelledError:
            self._refuse(key, RpcError(CANCELLED, "the request was cancelled"))
            raise
        except Exception as error:
            log.exception("the request %s failed", request.method)
            self._refuse(key, RpcError(INTERNAL_ERROR, f"internal error: {type(error).__name__}"))
        else:
            reply = result if isinstance(result, Reply) else None
            self._send({"id": key, "result": reply.result if reply is not None else result})
            if reply is not None:
                reply.then()
        finally:
            self._requests.pop(key, None)

    def _give_up(self, params: Any) -> None:
        wanted = cast("Params", params).get("requestId") if isinstance(params, dict) else None
        request, task = self._requests.get(_key({"id": wanted}), (None, None))
        if request is not None and request.on_cancel is not None:
            request.on_cancel()
        elif task is not None:
            task.cancel()

    def _refuse(self, key: MessageKey, error: RpcError) -> None:
        self._send({"id": key, "error": error.fields})

    def _send(self, fields: Params) -> None:
        if not self._is_lost:
            self._transport.send(msgspec.json.encode({"jsonrpc": "2.0", **fields}, enc_hook=encode_plain))

    async def _lose(self) -> None:
        self._is_lost = True
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(PeerLost())
        tasks = [task for _, task in self._requests.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._transport.close()


def decoded(data: bytes) -> object:
    """The JSON value in a message. Halves of characters, which JavaScript programs write as escapes, become U+FFFD.
    Raises ValueError."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if b"\\u" not in data:
            raise ValueError(str(error)) from error
    try:
        text = json.dumps(json.loads(data, parse_constant=_refuse_constant), ensure_ascii=False)
        return msgspec.json.decode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except (ValueError, RecursionError, msgspec.DecodeError) as error:
        raise ValueError(str(error)) from error


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _checked(params: Any) -> Params:
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params are a JSON object")
    return cast("Params", params)


def _key(message: object) -> MessageKey:
    """The id of a message; None if it has none that an answer could repeat."""
    key: object = cast("Params", message).get("id") if isinstance(message, dict) else None
    if isinstance(key, bool) or not isinstance(key, str | int | float):
        return None
    return None if isinstance(key, str) and len(key) > _ID_CHARS else key


def _error(error: object) -> RpcError:
    if not isinstance(error, dict):
        return RpcError(INTERNAL_ERROR, str(error))
    said = cast("Params", error)
    code = said.get("code")
    return RpcError(code if isinstance(code, int) else INTERNAL_ERROR, str(said.get("message")), said.get("data"))
