"""What `coder -p` prints as text, and its progress on stderr."""

from typing import TextIO

from coderelay.client.i18n import retell
from coderelay.client.todo_text import lists_in
from coderelay.protocol.calls import Denied, Finished, one_line
from coderelay.protocol.events import (
    BatchOpened,
    CallEnded,
    CallProposed,
    CallStarted,
    MessageAdded,
    Recorded,
    TurnEnded,
    judged_in,
)
from coderelay.protocol.ids import CallId
from coderelay.protocol.live_updates import Live, Notice
from coderelay.protocol.message_content import text_of
from coderelay.surfaces.headless.output_interface import CutShort


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

    def remember_calls(self, recorded: Recorded) -> None:
        """Remember the calls of an event that is not shown."""
        self._titles.update(
            {each.call_id: f"{each.need.tool} {each.need.title}" for each in judged_in(recorded.event)}
        )

    def _say_outcome(self, call_id: CallId, told: str) -> None:
        """A call that could not be started has not been named yet. A problem that many calls have in common is
        printed once."""
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


def _line(text: str) -> str:
    first, _, more = text.partition("\n")
    return f"{first} …" if more else first
