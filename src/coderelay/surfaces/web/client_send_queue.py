"""The connection of one web client: the queue of what is sent to it, and how much may wait there."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from coderelay.protocol.ids import AskId, SessionId
from coderelay.surfaces.web.session_frames import Frame

MOST_UNSENT = 1024 * 1024
LAGGING = 4409
_WINDOW_SECONDS = 0.016
_CLOSE_SECONDS = 60.0
_MOST_REASON = 123  # bytes, by the WebSocket protocol


_Unsent = tuple[Frame | str, int]


class Socket(Protocol):
    async def send_text(self, data: str) -> None: ...
    async def close(self, code: int = 1000, reason: str | None = None) -> None: ...


class ClientSendQueue:
    """Frames are sent in the order in which they were put in. If `batched`, those of 16 ms go out as one array.

    At most MOST_UNSENT characters of frames may wait. Beyond that, live pieces are dropped; if that is not enough, it
    is `lagging`: the connection is closed with the code LAGGING, and the reason names the event of each session to go
    on after. Answers to the client's own requests are not counted, since it gets the next one only after it has read
    this one. A client `is_slow` if it did not read in the time that it was given.
    """

    def __init__(self, socket: Socket, *, batched: bool) -> None:
        self._socket = socket
        self._batched = batched
        self._waiting: deque[_Unsent] = deque()
        self._unsent = 0
        self._woken = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()
        self._held: dict[SessionId, list[Frame]] = {}
        self._starts: dict[SessionId, int] = {}  # the events that a history has shown already
        self._sent: dict[SessionId, int] = {}  # the last event of each session that was sent whole
        self._asked: set[AskId] = set()
        self._sending: Sequence[_Unsent] = ()
        self._lost: dict[SessionId, int] = {}  # the first event of each session that came when it was lagging
        self.lagging = asyncio.Event()
        self.is_slow = False
        self.wants_statistics = False

    @property
    def is_filling_up(self) -> bool:
        return self._unsent > MOST_UNSENT // 2

    def put(self, frame: Frame) -> None:
        """Take a frame that goes to all clients."""
        if (held := self._held.get(frame.session)) is not None:
            if not frame.live:
                held.append(frame)
        elif self._is_news(frame):
            self._add(frame)

    def reply(self, text: str) -> None:
        """Take the answer to a request of this client."""
        self._append(text, 0)

    async def drained(self) -> None:
        """Wait until everything is sent."""
        await self._drained.wait()

    def pause_session(self, session: SessionId) -> None:
        """Keep the frames of a session back until the client has its history, so that they come after it."""
        self._held.setdefault(session, [])

    def release(
        self, session: SessionId, frames: Sequence[Frame] = (), shown: int | None = None, *, anew: bool = False
    ) -> None:
        """End the hold of a session. First come `frames`, then what was held and is not in the client's history,
        which ends with the event number `shown`. Live pieces are not held: the last of `frames` have the text so far.
        With `anew`, asks come again that the client was shown before."""
        held = self._held.pop(session, [])
        if shown is not None:
            self._starts[session] = shown
        for frame in [frame for frame in frames if not frame.live]:
            if anew or frame.ask is None or frame.ask not in self._asked:
                self._note(frame)
                self._append(frame, 0)
        for frame in held:
            if self._is_news(frame):
                self._add(frame)
        for frame in [frame for frame in frames if frame.live]:
            self._append(frame, 0)

    async def send_all(self) -> None:
        """Send what waits, until the connection ends."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            if self._batched:
                await asyncio.sleep(_WINDOW_SECONDS)
                await self._send_batch()
            else:
                await self._send_each()
            self.is_slow = False
            self._drained.set()

    async def close_lagging(self) -> None:
        """Give up what waits, and close the connection as soon as the client reads again, if that is soon."""
        reason = self._resume_points()
        self._waiting.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._socket.close(LAGGING, reason)

    async def _send_each(self) -> None:
        while self._waiting and not self.lagging.is_set():
            await self._send([self._waiting.popleft()], _text)

    async def _send_batch(self) -> None:
        while self._waiting and not self.lagging.is_set():
            items, self._waiting = self._waiting, deque[_Unsent]()
            await self._send(items, _array)

    async def _send(self, items: Sequence[_Unsent], as_text: Callable[[Sequence[_Unsent]], str]) -> None:
        self._sending = items
        await self._socket.send_text(as_text(items))
        self._sending = ()
        for item, size in items:
            self._unsent -= size
            if isinstance(item, Frame) and not item.live and item.has_place and item.completes:
                self._sent[item.session] = item.seq

    def _is_news(self, frame: Frame) -> bool:
        """Whether the client has not been shown this yet, by a history or by a request for the ask."""
        if frame.ask is not None and frame.ask in self._asked:
            return False
        start = self._starts.get(frame.session, 0)
        return not frame.has_place or (frame.seq >= start if frame.live else frame.seq > start)

    def _add(self, frame: Frame) -> None:
        if self.lagging.is_set():
            self._lose(frame)
            return
        if self._unsent + len(frame.text) > MOST_UNSENT:
            if frame.live:
                return
            self._drop_live()
        if self._unsent + len(frame.text) > MOST_UNSENT and self._unsent:
            self.lagging.set()
            self._lose(frame)
            return
        self._note(frame)
        self._append(frame, len(frame.text))

    def _note(self, frame: Frame) -> None:
        if frame.ask is not None:
            self._asked.add(frame.ask)

    def _lose(self, frame: Frame) -> None:
        if not frame.live and frame.has_place:
            self._lost.setdefault(frame.session, frame.seq)

    def _append(self, item: Frame | str, size: int) -> None:
        """`size` is what of it counts as unsent."""
        self._unsent += size
        self._waiting.append((item, size))
        self._drained.clear()
        self._woken.set()

    def _drop_live(self) -> None:
        stay = deque(each for each in self._waiting if not (isinstance(each[0], Frame) and each[0].live))
        self._unsent -= sum(size for _, size in self._waiting) - sum(size for _, size in stay)
        self._waiting = stay

    def _resume_points(self) -> str:
        """For the sessions of which something was not sent, as many as there is room for."""
        points: dict[SessionId, int] = {}
        unsent = [item for item, _ in (*self._sending, *self._waiting) if isinstance(item, Frame)]
        missed = [(each.session, each.seq) for each in unsent if not each.live and each.has_place]
        for session, seq in (*missed, *self._lost.items()):
            points.setdefault(session, self._sent.get(session, seq - 1))
        shown: list[str] = []
        for session, seq in points.items():
            more = [*shown, f'"{session}":{seq}']
            if len(",".join(more)) + 2 > _MOST_REASON:
                break
            shown = more
        return "{" + ",".join(shown) + "}"


def _text(items: Sequence[_Unsent]) -> str:
    item, _ = items[0]
    return item if isinstance(item, str) else item.text


def _array(items: Sequence[_Unsent]) -> str:
    return f"[{','.join(item if isinstance(item, str) else item.text for item, _ in items)}]"
