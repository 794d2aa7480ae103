"""The errors of JSON-RPC, as they are sent and as they are raised."""

from typing import Any

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


class PeerLost(Exception):
    """The connection has ended; a request may have arrived, but it gets no answer."""


class PeerTimeout(Exception):
    """The other side did not answer in time, and was told to give up."""
