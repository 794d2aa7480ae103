"""One client on its socket: what waits to be sent to it, in order, and how much of that may pile up."""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from coderelay.protocol.ids import AskId, SessionId
from coderelay.surfaces.web.session_view import Frame

MOST_UNSENT = 1024 * 1024
LAGGING = 4409
_WINDOW_SECONDS = 0.016
_CLOSE_SECONDS = 60.0
_MOST_REASON = 123  # bytes, by the WebSocket protocol


class Socket(Protocol):
    async def send_text(self, data: str) -> None: ...
    async def close(self, code: int = 1000, reason: str | None = None) -> None: ...


class Connection:
    """Frames are sent in the order in which they were put in. If `batched`, those of 16 ms go out as one array.

    At most MOST_UNSENT characters of frames may wait. Beyond that, live pieces are dropped; if that is not enough, it
    is `lagging`: the connection is closed with the code LAGGING, and the reason names the event of each session to go
    on after. Answers to the client's own requests are not counted, since it gets the next one only after it has read
    this one.
    """

    def __init__(self, socket: Socket, *, batched: bool) -> None:
        self._socket = socket
        self._batched = batched
        self._waiting: deque[Frame | str] = deque()
        self._unsent = 0
        self._woken = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()
        self._held: dict[SessionId, list[Frame]] = {}
        self._starts: dict[SessionId, int] = {}  # the events that a history has shown already
        self._sent: dict[SessionId, int] = {}  # the last event of each session that was sent whole
        self._asked: set[AskId] = set()
        self._sending: Frame | str = ""
        self.lagging = asyncio.Event()
        self.wants_statistics = False

    def put(self, frame: Frame) -> None:
        """Take a frame that goes to all clients."""
        if (held := self._held.get(frame.session)) is not None:
            held.append(frame)
        elif self._is_news(frame):
            self._add(frame)

    def reply(self, text: str) -> None:
        """Take the answer to a request of this client."""
        self._append(text)

    async def drained(self) -> None:
        """Wait until everything is sent."""
        await self._drained.wait()

    def hold(self, session: SessionId) -> None:
        """Keep the frames of a session back until the client has its history, so that they come after it."""
        self._held.setdefault(session, [])

    def release(self, session: SessionId, frames: Sequence[Frame] = (), shown: int = 0) -> None:
        """End the hold of a session. First come `frames`, then what was held and is not in the client's history,
        which ends with the event number `shown`. Live pieces that were held are left out: `frames` has the text so
        far."""
        held = self._held.pop(session, [])
        if shown:
            self._starts[session] = shown
        last_live = [frame for frame in frames if frame.live]
        for frame in [frame for frame in frames if not frame.live]:
            if frame.ask is None or frame.ask not in self._asked:
                self._note(frame)
                self._append(frame)
        for frame in held:
            if not frame.live and self._is_news(frame):
                self._add(frame)
        for frame in last_live:
            self._append(frame)

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
            self._drained.set()

    async def close_lagging(self) -> None:
        """Give up what waits, and close the connection as soon as the client reads again, if that is soon."""
        reason = self._resume_points()
        self._waiting.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._socket.close(LAGGING, reason)

    async def _send_each(self) -> None:
        while self._waiting:
            self._sending = item = self._waiting.popleft()
            await self._socket.send_text(item if isinstance(item, str) else item.text)
            self._has_sent(item)

    async def _send_batch(self) -> None:
        while self._waiting:
            items, self._waiting = self._waiting, deque[Frame | str]()
            self._sending = items[0]
            await self._socket.send_text(f"[{','.join(x if isinstance(x, str) else x.text for x in items)}]")
            for item in items:
                self._has_sent(item)

    def _has_sent(self, item: Frame | str) -> None:
        self._sending = ""
        if isinstance(item, Frame):
            self._unsent -= len(item.text)
            if not item.live and not item.of_child and item.completes:
                self._sent[item.session] = item.seq

    def _is_news(self, frame: Frame) -> bool:
        """Whether the client has not been shown this yet, by a history or by a request for the ask."""
        if frame.ask is not None and frame.ask in self._asked:
            return False
        start = self._starts.get(frame.session, 0)
        return frame.of_child or (frame.seq >= start if frame.live else frame.seq > start)

    def _add(self, frame: Frame) -> None:
        if self._unsent + len(frame.text) > MOST_UNSENT:
            if frame.live:
                return
            self._drop_live()
        if self._unsent + len(frame.text) > MOST_UNSENT and self._unsent:
            self.lagging.set()
            return
        self._note(frame)
        self._append(frame)

    def _note(self, frame: Frame) -> None:
        if frame.ask is not None:
            self._asked.add(frame.ask)

    def _append(self, item: Frame | str) -> None:
        if isinstance(item, Frame):
            self._unsent += len(item.text)
        self._waiting.append(item)
        self._drained.clear()
        self._woken.set()

    def _drop_live(self) -> None:
        stay = [each for each in self._waiting if isinstance(each, str) or not each.live]
        self._unsent = sum(len(each.text) for each in stay if isinstance(each, Frame))
        self._waiting = deque(stay)

    def _resume_points(self) -> str:
        """For the sessions of which something was not sent, as many as there is room for."""
        points: dict[SessionId, int] = {}
        for item in (self._sending, *self._waiting):
            if isinstance(item, Frame) and not item.live and not item.of_child:
                points.setdefault(item.session, self._sent.get(item.session, item.seq - 1))
        shown: list[str] = []
        for session, seq in points.items():
            more = [*shown, f'"{session}":{seq}']
            if len(",".join(more)) + 2 > _MOST_REASON:
                break
            shown = more
        return "{" + ",".join(shown) + "}"
