"""The output of one prompt, at the pace of whoever reads it."""

import asyncio
from contextlib import aclosing, suppress

from coderelay.client.client import Client
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import Recorded, TurnEnded, TurnStarted
from coderelay.protocol.ids import MessageId, PromptId, SessionId, TurnId
from coderelay.protocol.live import Live, TextDelta, ThinkingDelta
from coderelay.surfaces import standard_streams
from coderelay.surfaces.headless.output import Output, Silence

_FEW_WAITING = standard_streams.MOST_WAITING // 4


class PacedOutput:
    """Shows what a session records, and never makes the session wait. While the reader is behind, pieces of
    unfinished messages are left out, and events are read again from the log when the reader has taken what there
    was. So memory stays bounded, and no event is missing in the end."""

    def __init__(self, client: Client, session: SessionId, prompt_id: PromptId, output: Output) -> None:
        self._client = client
        self._session = session
        self._prompt_id = prompt_id
        self._output = output
        self._turn: TurnId | None = None
        self._shown = 0  # the number of the last event that the output has
        self._last = 0  # the number of the last event that there is
        self._cut: MessageId | None = None
        self._catching_up: asyncio.Task[None] | None = None

    def begin(self, after: int) -> None:
        """The output is for events behind this one."""
        self._shown = self._last = after

    def take(self, each: Recorded | Live) -> None:
        """Raises BrokenPipeError if nobody reads any more."""
        if not isinstance(each, Recorded):
            self._show_live(each)
        elif each.session == self._session:  # what a child does is its own; its parent's call says what came of it
            self._last = each.seq
            if self._catching_up is not None and self._catching_up.done():
                self._catching_up.result()
                self._catching_up = None
            if self._catching_up is None and self._is_behind():
                self._catching_up = asyncio.create_task(self._catch_up())
            if self._catching_up is None:
                self._show(each)

    async def finish(self) -> None:
        """Until everything is shown that was recorded. Raises BrokenPipeError if nobody reads any more."""
        if self._catching_up is not None:
            await self._catching_up

    def silence(self) -> None:
        self._output = Silence()

    def _show(self, recorded: Recorded) -> None:
        self._shown = recorded.seq
        self._output.event(recorded)
        match recorded.event:
            case TurnStarted(prompt_id=prompt_id, turn_id=turn_id) if prompt_id == self._prompt_id:
                self._turn = turn_id
            case TurnEnded(turn_id=turn_id) if turn_id == self._turn:
                self._output.finish(recorded)
            case _:
                pass

    def _show_live(self, live: Live) -> None:
        """A message of which a piece was left out is shown when it is whole."""
        message = live.message_id if isinstance(live, TextDelta | ThinkingDelta) else None
        if self._catching_up is not None or self._is_behind():
            self._cut = message or self._cut
        elif message is None or message != self._cut:
            self._output.live(live)

    async def _catch_up(self) -> None:
        while self._shown < self._last:
            await standard_streams.taken_down_to(_FEW_WAITING)
            with suppress(UnknownSession):  # deleted, and with it what was to be shown
                if await self._read_on():
                    continue
            return

    async def _read_on(self) -> bool:
        """Show what the log holds until the reader is behind again. False if the log has ended."""
        async with aclosing(self._client.follow(self._session, self._shown)) as feed:
            async for each in feed:
                if isinstance(each, Recorded):
                    self._show(each)
                if self._shown >= self._last or self._is_behind():
                    return True
        return False

    def _is_behind(self) -> bool:
        return standard_streams.waiting() > standard_streams.MOST_WAITING
