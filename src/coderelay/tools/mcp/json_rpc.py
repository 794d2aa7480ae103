"""JSON-RPC 2.0 over one transport: requests and answers in both directions."""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from coderelay.tools.mcp.transport import ServerFailed, ServerRefused, ServerTimeout, Transport

log = logging.getLogger(__name__)

_RUBBISH = 100  # tolerated lines that are not messages: some servers write their log where it does not belong
_UNASKED = 10_000  # messages since the last answer to a request of ours
_ID = 256  # characters
_IN_FLIGHT = 16  # answers to requests of the server that are not sent yet
_ENDING_SECONDS = 0.05
_METHOD_NOT_FOUND = -32601
_HALF_PAIR = re.compile("[\ud800-\udfff]")


class RpcMessage(Struct):
    """One message, decoded leniently: an answer that is slightly malformed is better than none."""

    id: Any = None
    method: str | None = None
    params: Any = None
    result: Raw | UnsetType = UNSET
    error: Any = None


RequestHandlers = Mapping[str, Callable[[], dict[str, Any]]]
"""The answers to the requests that a server may make, by method."""


class Peer:
    """`heard` is called with the method of each notification. Requests of methods that are not in `answers` are
    refused. A peer that is lost closes its transport by itself."""

    def __init__(self, line: Transport, answers: RequestHandlers, heard: Callable[[str], None]) -> None:
        self.line = line
        self.lost = ""  # the reason, once the connection is lost
        self._answers = answers
        self._heard = heard
        self._waiting: dict[str, _Waiting] = {}
        self._last_id = 0
        self._replies: set[asyncio.Task[None]] = set()
        self._closing: asyncio.Task[None] | None = None
        self._rubbish = 0
        self._unasked = 0

    async def open(self) -> None:
        """Raises ServerFailed."""
        await self.line.open(self._hear, self._lose)

    async def ask(self, method: str, params: Mapping[str, Any], seconds: float, most_seconds: float = 0) -> Raw:
        """Send a request and return its result. Each progress notification restarts the timeout of `seconds`, up to
        `most_seconds` in all. Raises ServerFailed; on timeout or cancellation, the server is told to give up."""
        if self.lost:
            raise ServerFailed(self.lost)
        self._last_id += 1
        number = str(self._last_id)
        if most_seconds:
            params = {**params, "_meta": {"progressToken": self._last_id}}
        body = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        waiting = self._waiting[number] = _Waiting(seconds, most_seconds)
        sending = asyncio.ensure_future(self.line.send(msgspec.json.encode(body)))
        try:
            async with asyncio.timeout(seconds) as waiting.limit:
                return await _answered(sending, waiting.answer)
        except TimeoutError as error:
            self._give_up(method, number, "it took too long")
            raise ServerTimeout(f"did not answer within {waiting.waited:.0f} s") from error
        except asyncio.CancelledError:
            self._give_up(method, number, "it is not wanted any more")
            raise
        finally:
            del self._waiting[number]
            await _end(sending)

    async def tell(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Raises ServerFailed."""
        body = {"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {})
        await self.line.send(msgspec.json.encode(body))

    async def close(self) -> None:
        self._lose("was closed")
        for reply in self._replies:
            reply.cancel()
        await asyncio.gather(*self._replies, return_exceptions=True)
        if self._closing is not None:
            await asyncio.shield(self._closing)

    def _give_up(self, method: str, number: str, reason: str) -> None:
        if method != "initialize" and not self.lost:
            params = {"requestId": int(number), "reason": reason}
            self._send_aside(method="notifications/cancelled", params=params)

    def _hear(self, data: bytes) -> None:
        try:
            messages = _messages(data)
        except RecursionError:
            self._lose("sent a message that is nested too deep")
            return
        if messages is None:
            self._rubbish += 1
            if self._rubbish > _RUBBISH:
                self._lose("sends what are no messages")
            return
        for message in messages:
            self._take(message)

    def _take(self, message: RpcMessage) -> None:
        self._unasked += 1
        if self._unasked > _UNASKED:
            self._lose(f"sent more than {_UNASKED} messages that nobody asked for")
        elif message.method is None:
            self._take_answer(message)
        elif message.id is not None:
            self._answer(message)
        elif message.method == "notifications/progress":
            self._take_progress(message.params)
        else:
            self._heard(message.method)

    def _take_answer(self, message: RpcMessage) -> None:
        waiting = self._waiting.get(str(message.id))
        if waiting is None or waiting.answer.done():
            return  # the answer to a request that was given up
        self._unasked = 0
        if message.error is not None:
            waiting.answer.set_exception(_refused(message.error))
        elif message.result is not UNSET:
            waiting.answer.set_result(message.result.copy())
        else:
            waiting.answer.set_exception(ServerFailed("sent an answer without a result", sent=True))

    def _take_progress(self, params: Any) -> None:
        if not isinstance(params, dict):
            return
        token = cast(dict[str, Any], params).get("progressToken")
        if waiting := self._waiting.get(str(token)):
            waiting.extend()

    def _answer(self, message: RpcMessage) -> None:
        """Answer a request of the server. An answer repeats the id and stays in memory until the server reads it, so
        the size of the id and the number of waiting answers are limited."""
        if not isinstance(message.id, str | int | float):
            return  # an answer could not be matched to such an id
        if isinstance(message.id, str) and len(message.id) > _ID:
            self._lose(f"asked with an id of more than {_ID} characters")
            return
        if len(self._replies) >= _IN_FLIGHT:
            self._lose(f"asked more than {_IN_FLIGHT} times without reading what it was answered")
            return
        answer = self._answers.get(message.method or "")
        if answer is not None:
            said: dict[str, Any] = {"result": answer()}
        else:
            said = {
                "error": {"code": _METHOD_NOT_FOUND, "message": f"{(message.method or '')[:_ID]} is not offered here"}
            }
        self._send_aside(id=message.id, **said)

    def _send_aside(self, **body: Any) -> None:
        task = asyncio.ensure_future(self._send_quietly(msgspec.json.encode({"jsonrpc": "2.0", **body})))
        self._replies.add(task)
        task.add_done_callback(self._replies.discard)

    async def _send_quietly(self, message: bytes) -> None:
        try:
            await self.line.send(message)
        except ServerFailed as failed:  # the transport tells those who wait for this server
            log.debug("a message to an MCP server was not sent: %s", failed.what)

    def _lose(self, what: str) -> None:
        if self.lost:
            return
        self.lost = what
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_exception(ServerFailed(what, sent=True))
        self._closing = asyncio.ensure_future(self.line.close())


class _Waiting:
    def __init__(self, seconds: float, most_seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Raw] = loop.create_future()
        self.answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # maybe nobody awaits it
        self.limit: asyncio.Timeout | None = None
        self._began = loop.time()
        self._seconds = seconds
        self._last = self._began + max(seconds, most_seconds)

    @property
    def waited(self) -> float:
        return asyncio.get_running_loop().time() - self._began

    def extend(self) -> None:
        limit = self.limit
        if limit is not None and not limit.expired() and not self.answer.done():
            limit.reschedule(min(asyncio.get_running_loop().time() + self._seconds, self._last))


async def _answered(sending: asyncio.Future[bool], answer: asyncio.Future[Raw]) -> Raw:
    await asyncio.wait({sending, answer}, return_when=asyncio.FIRST_COMPLETED)
    if not answer.done() and not sending.result():
        raise ServerFailed("ended its answer before the result", sent=True)
    return await answer


async def _end(sending: asyncio.Future[bool]) -> None:
    """Stop sending. The answer may have arrived while its connection is still open; a connection that ends within
    `_ENDING_SECONDS` is kept for reuse."""
    try:
        await asyncio.wait({sending}, timeout=_ENDING_SECONDS)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


def _refused(error: Any) -> ServerRefused:
    if not isinstance(error, dict):
        return ServerRefused(0, str(error))
    said = cast(dict[str, Any], error)
    code = said.get("code")
    return ServerRefused(code if isinstance(code, int) else 0, str(said.get("message") or ""))


def _messages(data: bytes) -> list[RpcMessage] | None:
    """One message, or a batch as in an older protocol version; None if the data is not a message. Raises
    RecursionError."""
    try:
        return _decoded(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # half of a surrogate pair or a broken character is no reason to leave a call without an answer
    try:
        text = json.dumps(json.loads(data.decode(errors="replace")), ensure_ascii=False)
        return _decoded(_HALF_PAIR.sub("\ufffd", text).encode())
    except (ValueError, msgspec.DecodeError):
        return None


def _decoded(data: bytes) -> list[RpcMessage]:
    said = msgspec.json.decode(data, type=RpcMessage | list[RpcMessage])
    return [said] if isinstance(said, RpcMessage) else said
