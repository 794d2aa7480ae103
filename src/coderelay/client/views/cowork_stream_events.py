"""A message while it is being written, as `stream_event` messages of the Cowork contract.

Each block is started, grows by deltas and is stopped; then the complete message follows. If the log keeps the pieces,
the messages are made from its events; else they are made from live pieces as these arrive.
"""

from collections.abc import Iterable
from typing import Any

from coderelay.protocol.events import PartialsKept, Recorded
from coderelay.protocol.external_agent_events import PartialBlock
from coderelay.protocol.ids import MessageId, SessionId, derived_id, new_id
from coderelay.protocol.live_updates import TextDelta, ThinkingDelta

_RUN = 24  # this many characters of an id are the same for all messages of one source; the rest counts them


def kept_messages(recorded: Recorded, event: PartialsKept) -> list[dict[str, Any]]:
    """The messages for pieces in the log. The same event always gives the same messages."""
    run = derived_id(recorded.session, recorded.seq)[:_RUN]
    changes = (change for block in event.blocks for change in _changes(block))
    return [_message(recorded.session, run, number, change) for number, change in enumerate(changes, 1)]


def _changes(block: PartialBlock) -> Iterable[dict[str, Any]]:
    if block.starts:
        yield _start(block.index, block.type)
    for text in block.pieces:
        yield _delta(block.index, block.type, text)
    if block.stops:
        yield _stop(block.index)


class Partials:
    """Makes the messages from live pieces."""

    def __init__(self, session: SessionId) -> None:
        self._session = session
        self._message: MessageId | None = None
        self._open: str | None = None
        self._index = -1
        self._run = new_id()[:_RUN]
        self._events = 0
        self._so_far: list[str] = []  # the text of the open block

    def grow(self, live: TextDelta | ThinkingDelta) -> list[dict[str, Any]]:
        """The messages for one more piece. A message that broke off is finished when another one begins."""
        left = [] if live.message_id == self._message else self.finish()
        self._message = live.message_id
        kind = "text" if isinstance(live, TextDelta) else "thinking"
        started = [] if self._open == kind else [*self._stopped(), self._started(kind)]
        self._so_far.append(live.text)
        return [*left, *started, self._next(_delta(self._index, kind, live.text))]

    def again(self) -> list[dict[str, Any]]:
        """The messages for the open block from its beginning, for somebody who comes in the middle of it."""
        if self._open is None:
            return []
        text = "".join(self._so_far)
        return [self._next(_start(self._index, self._open)), self._next(_delta(self._index, self._open, text))]

    def finish(self) -> list[dict[str, Any]]:
        """Stop the open block. Call it before the complete message is shown."""
        stopped = self._stopped()
        self._index = -1
        return stopped

    def _started(self, kind: str) -> dict[str, Any]:
        self._open = kind
        self._so_far = []
        self._index += 1
        return self._next(_start(self._index, kind))

    def _stopped(self) -> list[dict[str, Any]]:
        if self._open is None:
            return []
        self._open = None
        return [self._next(_stop(self._index))]

    def _next(self, change: dict[str, Any]) -> dict[str, Any]:
        self._events += 1
        return _message(self._session, self._run, self._events, change)


def _start(index: int, kind: str) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, kind: ""}}


def _delta(index: int, kind: str, text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": f"{kind}_delta", kind: text}}


def _stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def _message(session: SessionId, run: str, number: int, change: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "stream_event",
        "uuid": f"{run}{number:012x}",
        "session_id": session,
        "parent_tool_use_id": None,
        "event": change,
    }
