"""What `coder -p` prints as text, its progress on stderr, and pacing for readers slower than the session."""

import asyncio
from contextlib import aclosing, suppress
from typing import Any, Literal, Protocol, TextIO

import msgspec

from coderelay.client.client import Client
from coderelay.client.i18n import retell
from coderelay.client.todo_text import lists_in
from coderelay.protocol.calls import Denied, Finished, one_line
from coderelay.protocol.content import text_of
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import (
    BatchOpened,
    CallEnded,
    CallProposed,
    CallStarted,
    Ending,
    MessageAdded,
    Recorded,
    TurnEnded,
    TurnStarted,
    judged_in,
)
from coderelay.protocol.ids import CallId, MessageId, PromptId, SessionId, TurnId
from coderelay.protocol.live_updates import Live, Notice, TextDelta, ThinkingDelta
from coderelay.protocol.projected_rows import AskRow
from coderelay.surfaces import nonblocking_output

Form = Literal["text", "json", "stream-json"]
_FEW_WAITING = nonblocking_output.MOST_WAITING // 4


DONE, FAILED, USAGE, DENIED, STEP_LIMIT, PARKED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
ENDINGS: dict[Ending, int] = {"done": DONE, "failed": FAILED, "step_limit": STEP_LIMIT, "stopped": INTERRUPTED}


class RunState:
    """What a run did itself, from which its exit code follows.

    `refused`: something was denied because nobody could answer. `over_budget`: it was the request for more money.
    `stopped`: the person interrupted the run.
    """

    refused = False
    over_budget = False
    stopped = False

    def exit_code(self, ending: Ending) -> int:
        code = ENDINGS[ending]
        by_us = code == DONE or (code == INTERRUPTED and not self.stopped)
        return DENIED if by_us and self.refused else code


class CutShort(msgspec.Struct, frozen=True):
    """Why a run ends before its turn has ended: `asks` are open, or there is a `problem`. It was interrupted if there
    is neither."""

    asks: tuple[AskRow, ...] | None = None
    problem: str | None = None


class PromptOutput(Protocol):
    def event(self, recorded: Recorded) -> None: ...
    def live(self, live: Live) -> None: ...
    def child_event(self, recorded: Recorded) -> None:
        """Called for the events of child sessions. Their results are also the outcomes of the parent's calls."""
        ...

    def finish(self, ended: Recorded) -> None:
        """Called when the turn of this run's prompt has ended."""
        ...

    def cut_short(self, cut: CutShort) -> None:
        """Called instead of `finish` if the run ends before its turn has ended."""
        ...


class InitFields(Protocol):
    def __call__(self, model: str, cwd: str) -> dict[str, Any]:
        """The fields of the init message that the event of a turn's start does not have."""
        ...


class ResultMessages(Protocol):
    """Makes the result message of a run. It is given every event of the session and of its children."""

    session: SessionId

    def take(self, recorded: Recorded) -> None: ...
    def of_turn(self, ended: Recorded) -> dict[str, Any]: ...
    def of_cut(self, cut: CutShort) -> dict[str, Any]: ...


class ProgressLines:
    """Writes to stderr what happens in a turn, one line for each call and each outcome. What was denied, and a check
    of the work that failed for good, are always written, the rest only with `everything`."""

    def __init__(self, err: TextIO, *, everything: bool = True) -> None:
        self._err = err
        self._everything = everything
        self._titles: dict[CallId, str] = {}
        self._lists: dict[CallId, list[str]] = {}
        self._of_workflow: set[CallId] = set()
        self._started: set[CallId] = set()
        self._last_problem = ""

    def event(self, recorded: Recorded) -> None:
        match recorded.event:
            case MessageAdded() as event:
                self._lists |= lists_in(event)
                if event.author == "workflow":
                    self._of_workflow.update(call.id for call in event.calls)
                    told = f"coder: {text_of(event.blocks)}" if event.blocks else ""
                    self._say(told, always=event.verification == "failed")
            case BatchOpened() | CallProposed() as event:
                titles = {each.call_id: f"{each.need.tool} {each.need.title}" for each in judged_in(event)}
                self._titles.update(titles)
            case CallStarted() as event:
                self._started.add(event.call_id)
                self._say(f"• {_line(self._titles.get(event.call_id, ''))}")
            case CallEnded(outcome=Denied()) as event:
                if event.call_id not in self._of_workflow:  # of a check, the workflow says why it was not run
                    self._say(f"coder: {self._named(event)}", always=True)
            case CallEnded() as event:
                self._say_outcome(event.call_id, retell(one_line(event.outcome)))
                for line in self._lists.pop(event.call_id, ()) if isinstance(event.outcome, Finished) else ():
                    self._say(f"  {line}")
            case _:
                pass

    def live(self, live: Live) -> None:
        if isinstance(live, Notice):
            self._say(f"coder: {retell(live.text, live.said)}")

    def know(self, recorded: Recorded) -> None:
        """Remember the calls of an event that is not shown."""
        self._titles.update(
            {each.call_id: f"{each.need.tool} {each.need.title}" for each in judged_in(recorded.event)}
        )

    def _say_outcome(self, call_id: CallId, told: str) -> None:
        """A call that could not be started has not been named yet. The same problem of many calls is said once."""
        if call_id in self._started:
            self._started.discard(call_id)
            self._last_problem = ""
        elif told == self._last_problem:
            return
        else:
            self._last_problem = told
            self._say(f"• {_line(self._titles.get(call_id, ''))}")
        self._say(f"  {told}")

    def _named(self, event: CallEnded) -> str:
        title, told = self._titles.get(event.call_id, ""), retell(one_line(event.outcome))
        return f"{_line(title)}: {told}" if title else told

    def _say(self, line: str, *, always: bool = False) -> None:
        if line and (always or self._everything):
            self._err.write(line + "\n")


class TextOutput:
    """Writes the final answer to stdout. Progress, notices and errors go to stderr."""

    def __init__(self, out: TextIO, err: TextIO, progress: ProgressLines) -> None:
        self._out = out
        self._err = err
        self._progress = progress
        self.event = self.child_event = progress.event
        self.live = progress.live

    def finish(self, ended: Recorded) -> None:
        event = ended.event
        assert isinstance(event, TurnEnded)
        if event.text:
            self._out.write(event.text if event.text.endswith("\n") else event.text + "\n")
            self._out.flush()
        if event.error:
            self._err.write(f"coder: {retell(event.error, event.said)}\n")

    def cut_short(self, cut: CutShort) -> None:
        pass  # stderr says why


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


def _line(text: str) -> str:
    first, _, more = text.partition("\n")
    return f"{first} …" if more else first


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
            self.silence()

    def silence(self) -> None:
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
            await nonblocking_output.wait_until_written(_FEW_WAITING)
            with suppress(UnknownSession):  # the session was deleted together with its events
                if await self._read_on():
                    continue
            return

    async def _read_on(self) -> bool:
        """Show events from the log until the reader is behind again. Returns False if the log has ended."""
        async with aclosing(self._client.follow(self._session, self._shown)) as feed:
            async for each in feed:
                if isinstance(each, Recorded):
                    self._show(each)
                if self._shown >= self._last or self._is_behind():
                    return True
        return False

    def _is_behind(self) -> bool:
        return nonblocking_output.waiting() > nonblocking_output.MOST_WAITING
