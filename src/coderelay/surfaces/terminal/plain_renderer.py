"""Renders the events and live output of a session as plain text lines, without colours or a live region."""

import sys
from collections.abc import Iterable

from coderelay.client.i18n import retell, t
from coderelay.client.todo_text import begun_list_text, lists_in
from coderelay.protocol.asks import By
from coderelay.protocol.background_commands import end_in_words
from coderelay.protocol.calls import Finished, one_line
from coderelay.protocol.events import (
    AnyEvent,
    BackgroundEnded,
    BatchOpened,
    CallEnded,
    CallProposed,
    CallStarted,
    HistoryCleared,
    HistoryCompacted,
    Judged,
    MessageAdded,
    TurnProlonged,
    TurnUndone,
    judged_in,
)
from coderelay.protocol.ids import CallId, SessionId
from coderelay.protocol.live_updates import Live, Notice, TextDelta
from coderelay.protocol.message_content import text_of
from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces import nonblocking_standard_streams


class PlainRenderer:
    """Writes the events of one session, and the calls of its children, to standard output."""

    def __init__(self, by: By) -> None:
        self._by = by
        self._titles: dict[tuple[SessionId | None, CallId], str] = {}  # a child may use the same call ids
        self._lists: dict[CallId, list[str]] = {}
        self._begun: set[CallId] = set()  # calls with which coder itself begins a todo list
        self._own: set[CallId] = set()  # calls that are shell commands of the person (`!command`)
        self._streamed: str | None = None
        self._cut: str | None = None  # a message with a dropped delta: it is printed when it is complete
        self._within_line = False
        self._held: list[str] = []

    def write_between(self, text: str) -> None:
        """Write a text between two lines. While a line is being streamed, the text waits for its end."""
        self._held.append(text)
        if not self._within_line:
            self._write_held()

    def tell(self, event: AnyEvent) -> None:
        match event:
            case BatchOpened() | CallProposed():
                self._name_calls(judged_in(event), None)
            case MessageAdded():
                self._tell_message(event)
            case TurnUndone() if event.by != self._by:
                write(t("(last turn undone by {who} in {via})", via=event.by.via, who=event.by.who) + "\n")
            case HistoryCompacted():
                write(f"{t('(context compacted)')}\n{event.summary}\n" if event.summary else "")
            case HistoryCleared() if event.by != self._by:
                write(t("(context cleared by {who} in {via})", via=event.by.via, who=event.by.who) + "\n")
            case CallStarted() if event.call_id not in self._own and event.call_id not in self._begun:
                write(f"• {self._titles.pop((None, event.call_id), '')}\n")
            case CallEnded():
                self._tell_end(event)
            case TurnProlonged():
                write(t("(continuing: {reason})", reason=retell(event.reason, event.said)) + "\n")
            case BackgroundEnded():
                self._end_line()
                how = retell(end_in_words(event.end))
                write(t("(background command {id} {how})", id=event.background_id, how=how) + "\n")
            case _:
                pass

    def tell_of_child(self, child: SessionId, event: AnyEvent) -> None:
        """Print the calls that a child session starts. Its asks are shown elsewhere, and its other events are not
        shown."""
        match event:
            case BatchOpened() | CallProposed():
                self._name_calls(judged_in(event), child)
            case CallStarted():
                self._end_line()
                write(f"  ↳ {self._titles.pop((child, event.call_id), '')}\n")
            case _:
                pass

    def tell_live(self, live: Live) -> None:
        match live:
            case TextDelta() if self._is_cut(live):
                self._streamed = None
            case TextDelta():
                self._end_line(unless=live.message_id == self._streamed)  # the message streamed before is abandoned
                self._streamed = live.message_id
                self._write_streamed(live.text)
            case Notice():
                self._end_line()
                write(f"({retell(live.text, live.said)})\n")
            case _:
                pass

    def _write_streamed(self, text: str) -> None:
        if self._held and "\n" in text:
            line, _, text = text.partition("\n")
            write(f"{line}\n")
            self._write_held()
        self._within_line = not text.endswith("\n") if text else False
        write(text)

    def _write_held(self) -> None:
        write("".join(self._held))
        self._held.clear()

    def _is_cut(self, live: TextDelta) -> bool:
        """Whether to drop this delta: the reader is behind, or was behind earlier in the same message."""
        if nonblocking_standard_streams.waiting() > nonblocking_standard_streams.MOST_WAITING:
            self._cut = live.message_id
        return live.message_id == self._cut

    def _name_calls(self, judged: Iterable[Judged], child: SessionId | None) -> None:
        names = {(child, each.call_id): f"{each.need.tool} {each.need.title}" for each in judged}
        self._titles.update(names)

    def _tell_message(self, message: MessageAdded) -> None:
        if message.author == "person":
            self._own.update(call.id for call in message.calls)
            return
        self._lists |= lists_in(message)
        self._begun |= lists_in(message).keys() if message.author == "workflow" else set()
        text = text_of(message.blocks)
        if message.author == "workflow":
            self._end_line()
            write(f"({text})\n" if text else "")
            return
        streamed = self._streamed == message.message_id
        self._end_line(unless=streamed and bool(text))
        write(("" if streamed else text) + ("\n" if text else ""))
        self._write_held()

    def _tell_end(self, event: CallEnded) -> None:
        done = event.outcome
        if event.call_id in self._own and isinstance(done, Finished):
            code = f"({t('exit code {code}', code=done.exit_code)})\n" if done.exit_code else ""
            write("".join(_whole(each) for each in (done.output, done.errors)) + code)
            return
        if event.call_id in self._begun and isinstance(done, Finished):
            count = len(self._lists.pop(event.call_id, ()))
            write(f"({begun_list_text(count)})\n")
            return
        write(f"  {retell(one_line(done))}\n")
        for line in self._lists.pop(event.call_id, ()) if isinstance(done, Finished) else ():
            write(f"  {line}\n")

    def _end_line(self, *, unless: bool = False) -> None:
        """End the line that was streamed last, so that the next output begins on a new line."""
        if self._within_line and not unless:
            write("\n")
        self._within_line = False
        if not unless:
            self._write_held()


def write(text: str) -> None:
    sys.stdout.write(visible(text))  # names, answers and outputs are untrusted and may contain escape sequences
    sys.stdout.flush()


def _whole(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
