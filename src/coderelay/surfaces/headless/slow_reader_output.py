"""Holds output back while its reader is slow, and reads it from the log later."""

import asyncio
from contextlib import aclosing, suppress

from coderelay.client.client import Client
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import (
    Recorded,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import MessageId, PromptId, SessionId, TurnId
from coderelay.protocol.live_updates import Live, TextDelta, ThinkingDelta
from coderelay.surfaces import nonblocking_standard_streams
from coderelay.surfaces.headless.output_interface import CutShort, PromptOutput

_FEW_WAITING = nonblocking_standard_streams.MOST_WAITING // 4


class NullOutput:
    """An output that discards everything, used once the reader has closed the pipe."""

    def event(self, recorded: Recorded) -> None:
        pass

    def live(self, live: Live) -> None:
        pass

    def child_event(self, recorded: Recorded) -> None:
        pass

    def finish(self, ended: Recorded) -> None:
        pass

    def cut_short(self, cut: CutShort) -> None:
        pass


class PacedOutput:
    """Passes the events of a session to an output without ever blocking the session.

    While the reader is behind, live deltas are dropped, and events are read again from the log once the reader has
    caught up. So memory stays bounded, and no event is missing in the end."""

    def __init__(self, client: Client, session: SessionId, prompt_id: PromptId, output: PromptOutput) -> None:
        self._client = client
        self._session = session
        self._prompt_id = prompt_id
        self._output = output
        self._turn: TurnId | None = None
        self._shown = 0  # sequence number of the last event that the output has received
        self._last = 0  # sequence number of the last event that the session has recorded
        self._cut: MessageId | None = None  # a message of which a delta was dropped
        self._catching_up: asyncio.Task[None] | None = None
        self._is_finished = False

    def begin(self, after: int) -> None:
        """Show the events after sequence number `after`."""
        self._shown = self._last = after

    def take(self, each: Recorded | Live) -> None:
        """Show one event or live delta. Raises BrokenPipeError if the reader has closed the pipe."""
        if not isinstance(each, Recorded):
            self._show_live(each)
        elif each.session != self._session:
            self._output.child_event(each)
        else:
            self._last = each.seq
            if self._catching_up is not None and self._catching_up.done():
                self._catching_up.result()
                self._catching_up = None
            if self._catching_up is None and self._is_behind():
                self._catching_up = asyncio.create_task(self._catch_up())
            if self._catching_up is None:
                self._show(each)

    async def finish(self) -> None:
        """Wait until all recorded events are shown. Raises BrokenPipeError if the reader has closed the pipe."""
        if self._catching_up is not None:
            await self._catching_up

    def cut_short(self, cut: CutShort) -> None:
        """Write the result of a run that ends before its turn has ended. Nothing is written after that."""
        if not self._is_finished:
            self._output.cut_short(cut)
            self.discard_further_output()

    def discard_further_output(self) -> None:
        """Discard all further output."""
        self._output = NullOutput()

    def _show(self, recorded: Recorded) -> None:
        self._shown = recorded.seq
        self._output.event(recorded)
        match recorded.event:
            case TurnStarted(prompt_id=prompt_id, turn_id=turn_id) if prompt_id == self._prompt_id:
                self._turn = turn_id
            case TurnEnded(turn_id=turn_id) if turn_id == self._turn:
                self._output.finish(recorded)
                self._is_finished = True
            case _:
                pass

    def _show_live(self, live: Live) -> None:
        """Show a live delta, unless the reader is behind. A message with a dropped delta is shown once it is
        complete."""
        message = live.message_id if isinstance(live, TextDelta | ThinkingDelta) else None
        if self._catching_up is not None or self._is_behind():
            self._cut = message or self._cut
        elif message is None or message != self._cut:
            self._output.live(live)

    async def _catch_up(self) -> None:
        while self._shown < self._last:
            await nonblocking_standard_streams.wait_until_written(_FEW_WAITING)
            with suppress(UnknownSession):  # the session was deleted together with its events
                if await self._read_on():
                    continue
            return

    async def _read_on(self) -> bool:
        """Show events from the log until the reader is behind again. Returns False if the log has ended."""
        async with aclosing(self._client.follow(self._session, self._shown)) as feed:
            async for each in feed:
                if not isinstance(each, Recorded):
                    continue  # pieces of a message: only an event brings this further, however slow the reader is
                self._show(each)
                if self._shown >= self._last or self._is_behind():
                    return True
        return False

    def _is_behind(self) -> bool:
        return nonblocking_standard_streams.waiting() > nonblocking_standard_streams.MOST_WAITING
