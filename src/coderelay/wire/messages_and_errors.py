"""The JSON of one JSON-RPC message, the ids of requests, and the errors as they are sent and raised."""

import json
from typing import Any, cast

import msgspec

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CANCELLED = -32800


class RpcError(Exception):
    """An error that answers a request: raised by a handler to send it, and by `Peer.ask` when it arrives."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def fields(self) -> dict[str, Any]:
        """The error object. Some clients cannot read one with a null in it."""
        return {"code": self.code, "message": self.message} | ({} if self.data is None else {"data": self.data})


class NoAnswer(Exception):
    """A request gets no answer; the other side may have acted on it. `what` is the end of a sentence about it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class PeerLost(NoAnswer):
    """The connection has ended."""


class PeerTimeout(NoAnswer):
    """The other side did not answer in time, and was told to give up."""


def received_error(error: object) -> RpcError:
    """The error in an answer, whatever it looks like. The code 0 means that there was none."""
    if not isinstance(error, dict):
        return RpcError(0, str(error))
    said = cast("dict[str, Any]", error)
    code = said.get("code")
    message = str(said.get("message") or "") or "it does not say why"
    return RpcError(code if isinstance(code, int) else 0, message, said.get("data"))


ID_CHARS = 256
Params = dict[str, Any]
MessageKey = str | int | float | None
"""The id of a request."""


def decoded(data: bytes) -> object:
    """The value in a message. Halves of characters, which JavaScript programs write as escapes, become U+FFFD. Raises
    ValueError, and RecursionError if it is nested too deep."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if b"\\u" not in data:
            raise ValueError(str(error)) from error
    text = json.dumps(json.loads(data, parse_constant=_refuse_constant), ensure_ascii=False)
    try:
        return msgspec.json.decode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error


def key_of(key: object) -> MessageKey:
    """An id, if an answer can repeat it; else None."""
    if isinstance(key, bool) or not isinstance(key, str | int | float):
        return None
    return None if isinstance(key, str) and len(key) > ID_CHARS else key


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
