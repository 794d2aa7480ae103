"""The pieces of messages on their way to the log, in a turn that keeps them (`persist_partials` is `always`)."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from coderelay.protocol.events import PartialsKept
from coderelay.protocol.external_agent_events import PartialBlock
from coderelay.protocol.ids import MessageId, TurnId
from coderelay.protocol.live_updates import TextDelta, ThinkingDelta

SECONDS = 0.2
MOST_CHARS = 64 * 1024


class PartialMessageBuffer:
    """Collects the pieces of a turn's messages, and calls `append` a few times a second while there are any.

    `append` takes what was collected, and so does whoever appends another event of the turn: it comes before that
    event. So the log has everything in the order in which it was emitted. `last` are the last pieces in the log; if
    they left a block open, their process was killed, and the block is stopped when another one begins.
    """

    def __init__(
        self, turn_id: TurnId, last: PartialsKept | None, append: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        self._turn_id = turn_id
        self._append = append
        self._blocks: list[_Block] = []
        self._open: _Block | None = None
        if last is not None and last.blocks and not last.blocks[-1].stops:
            self._open = _Block(last.message_id, last.blocks[-1].index, last.blocks[-1].type)
        self._chars = 0
        self._timer: asyncio.TimerHandle | None = None
        self._appending: asyncio.Task[None] | None = None
        self._last_append = -SECONDS
        self._is_closed = False

    def add(self, live: TextDelta | ThinkingDelta) -> None:
        kind = "text" if isinstance(live, TextDelta) else "thinking"
        block = self._open
        if block is None or block.message != live.message_id or block.kind != kind:
            self.finish()
            goes_on = block is not None and block.message == live.message_id
            block = self._begin(live.message_id, block.index + 1 if block is not None and goes_on else 0, kind)
        elif block not in self._blocks[-1:]:
            self._blocks.append(block)
        block.pieces.append(_whole(live.text))
        self._chars += len(live.text)
        self._plan()

    def finish(self) -> None:
        """Stop the open block. Nothing more of it follows."""
        block, self._open = self._open, None
        if block is not None:
            block.stops = True
            if block not in self._blocks[-1:]:
                self._blocks.append(block)

    def take(self) -> list[PartialsKept]:
        """The events for what was collected. The caller appends them."""
        events: list[PartialsKept] = []
        for each in self._blocks:
            blocks = events.pop().blocks if events and events[-1].message_id == each.message else ()
            kept = PartialsKept(turn_id=self._turn_id, message_id=each.message, blocks=(*blocks, each.kept()))
            events.append(kept)
        self._blocks, self._chars = [], 0
        if self._open is not None:
            self._open = _Block(self._open.message, self._open.index, self._open.kind)
        return events

    def close(self) -> None:
        """Append nothing more."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _begin(self, message: MessageId, index: int, kind: Literal["text", "thinking"]) -> "_Block":
        self._open = _Block(message, index, kind)
        self._open.starts = True
        self._blocks.append(self._open)
        return self._open

    def _plan(self) -> None:
        if self._appending is not None or self._is_closed:
            return
        is_much = self._chars >= MOST_CHARS
        if self._timer is not None and is_much:
            self._timer.cancel()
        elif self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        pause = 0 if is_much else max(0, self._last_append + SECONDS - loop.time())
        self._timer = loop.call_later(pause, self._append_now)

    def _append_now(self) -> None:
        self._timer = None
        self._last_append = asyncio.get_running_loop().time()
        self._appending = asyncio.create_task(self._append())
        self._appending.add_done_callback(self._appended)

    def _appended(self, done: asyncio.Task[None]) -> None:
        """A failure is not reported here: the next append of the turn fails in the same way and reports it."""
        self._appending = None
        if not done.cancelled() and done.exception() is None and self._blocks:
            self._plan()


def _whole(text: str) -> str:
    """The text without lone surrogates, which some programs write and which cannot be stored."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class _Block:
    """The pieces of one block that no append has taken yet."""

    def __init__(self, message: MessageId, index: int, kind: Literal["text", "thinking"]) -> None:
        self.message = message
        self.index = index
        self.kind: Literal["text", "thinking"] = kind
        self.pieces: list[str] = []
        self.starts = False
        self.stops = False

    def kept(self) -> PartialBlock:
        return PartialBlock(self.index, self.kind, tuple(self.pieces), self.starts, self.stops)
