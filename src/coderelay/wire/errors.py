"""The errors of JSON-RPC, as they are sent and as they are raised."""

from typing import Any, cast

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
