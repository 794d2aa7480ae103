"""A message while it is being written, as `stream_event` messages of the Cowork contract.

Each block is started, grows by deltas and is stopped; then the complete message follows.
"""

from typing import Any

from coderelay.protocol.ids import MessageId, SessionId, new_id
from coderelay.protocol.live import TextDelta, ThinkingDelta


class Partials:
    def __init__(self, session: SessionId) -> None:
        self._session = session
        self._message: MessageId | None = None
        self._open: str | None = None
        self._index = -1
        self._run = new_id()[:24]
        self._events = 0
        self._so_far: list[str] = []  # the text of the open block

    def grow(self, live: TextDelta | ThinkingDelta) -> list[dict[str, Any]]:
        """The events for one more piece. A message that broke off is finished when another one begins."""
        left = [] if live.message_id == self._message else self.finish()
        self._message = live.message_id
        kind = "text" if isinstance(live, TextDelta) else "thinking"
        started = [] if self._open == kind else [*self._stop(), self._start(kind)]
        delta = self._event(
            {"type": "content_block_delta", "index": self._index, "delta": {"type": f"{kind}_delta", kind: live.text}}
        )
        self._so_far.append(live.text)
        return [*left, *started, delta]

    def again(self) -> list[dict[str, Any]]:
        """The events for the open block from its beginning, for somebody who comes in the middle of it."""
        if self._open is None:
            return []
        kind = self._open
        delta = {"type": f"{kind}_delta", kind: "".join(self._so_far)}
        block = {"type": kind, kind: ""}
        return [
            self._event({"type": "content_block_start", "index": self._index, "content_block": block}),
            self._event({"type": "content_block_delta", "index": self._index, "delta": delta}),
        ]

    def finish(self) -> list[dict[str, Any]]:
        """Stop the open block. Call it before the complete message is shown."""
        stopped = self._stop()
        self._index = -1
        return stopped

    def _start(self, kind: str) -> dict[str, Any]:
        self._open = kind
        self._so_far = []
        self._index += 1
        block = {"type": kind, kind: ""}
        return self._event({"type": "content_block_start", "index": self._index, "content_block": block})

    def _stop(self) -> list[dict[str, Any]]:
        if self._open is None:
            return []
        self._open = None
        self._so_far = []
        return [self._event({"type": "content_block_stop", "index": self._index})]

    def _event(self, event: dict[str, Any]) -> dict[str, Any]:
        self._events += 1
        return {
            "type": "stream_event",
            "uuid": f"{self._run}{self._events:012x}",
            "session_id": self._session,
            "parent_tool_use_id": None,
            "event": event,
        }
