"""Tolerance with programs that do not keep to JSON-RPC: an answer that is slightly malformed is better than none."""

from typing import cast

from coderelay.protocol.translatable import say
from coderelay.wire.messages_and_errors import ID_CHARS, Params, PeerLost, decoded, key_of
from coderelay.wire.transport import Oversized

_RUBBISH = 100  # lines that are not messages: some programs write their log where it does not belong
_UNASKED = 10_000  # messages since the last answer to a request of ours
_IN_FLIGHT = 16  # requests of the other side that are not answered yet


class Tolerance:
    """The deviations from JSON-RPC that a peer accepts. Its methods raise PeerLost when a limit is exceeded."""

    def __init__(self) -> None:
        self._rubbish = 0
        self._unasked = 0

    def repaired(self, data: bytes | Oversized) -> list[Params]:
        """The messages in what has arrived: one, or several as older versions of MCP allow. They are as the standard
        wants them; what cannot be repaired is left out."""
        found = _values(data)
        messages = [cast("Params", each) for each in found if isinstance(each, dict)]
        if not messages or len(messages) < len(found):
            self._rubbish += 1
        self._unasked += len(messages)
        if self._rubbish > _RUBBISH:
            raise PeerLost("sends what are no messages")
        if self._unasked > _UNASKED:
            raise PeerLost(say("sent more than {count} messages that nobody asked for", count=_UNASKED))
        return [repaired for each in messages if (repaired := _repaired(each)) is not None]

    def note_answer(self) -> None:
        """A request of ours was answered."""
        self._unasked = 0

    def check_requests(self, waiting: int) -> None:
        """Another request has arrived, while so many are not answered. An answer takes memory until it is read."""
        if waiting >= _IN_FLIGHT:
            raise PeerLost(say("sent more than {count} requests without reading the answers", count=_IN_FLIGHT))


def _values(data: bytes | Oversized) -> list[object]:
    if isinstance(data, Oversized):
        raise PeerLost("sent a message that is too large")
    try:
        value = _decoded(data)
    except ValueError:
        return [None]
    except RecursionError as error:
        raise PeerLost("sent a message that is nested too deep") from error
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _decoded(data: bytes) -> object:
    try:
        return decoded(data)
    except ValueError:  # a broken character is no reason to leave a call without an answer
        return decoded(data.decode(errors="replace").encode())


def _repaired(message: Params) -> Params | None:
    given = {name: value for name, value in message.items() if name in ("result", "error")}
    key, method, params = message.get("id"), message.get("method"), message.get("params")
    if method is None:
        return {"jsonrpc": "2.0", "id": key, **given}
    if isinstance(key, str) and len(key) > ID_CHARS:
        raise PeerLost(say("asked with an id of more than {count} characters", count=ID_CHARS))
    if not isinstance(method, str) or (key is not None and key_of(key) is None):
        return None
    asked: Params = {"jsonrpc": "2.0", "method": method, "params": params if isinstance(params, dict) else {}}
    return asked if key is None else {**asked, "id": key}
