"""Renders one session's events: finished parts as text to print, unfinished parts as a tail for the live region."""

import time
from collections import deque
from collections.abc import Callable, Sequence

from coderelay.client.i18n import retell, t
from coderelay.protocol.asks import By
from coderelay.protocol.background_commands import end_in_words
from coderelay.protocol.calls import Call, Need
from coderelay.protocol.events import (
    AnyEvent,
    AskParked,
    BackgroundEnded,
    BatchOpened,
    CallEnded,
    CallProposed,
    CallStarted,
    ChildOpened,
    HistoryCleared,
    HistoryCompacted,
    MessageAdded,
    PromptAdmitted,
    PromptEdited,
    PromptRecalled,
    PromptTaken,
    Recorded,
    SessionDeleted,
    SessionMoved,
    StopRequested,
    TurnEnded,
    TurnProlonged,
    TurnStarted,
    TurnUndone,
    judged_in,
)
from coderelay.protocol.ids import CallId, MessageId, PromptId, SessionId
from coderelay.protocol.live_updates import Live, Notice, OutputDelta, TextDelta, ThinkingDelta
from coderelay.protocol.message_content import Text, text_of, thinking_of
from coderelay.surfaces.terminal.drawing.calls import begun_list, call_ended, call_line, gives_todos
from coderelay.surfaces.terminal.drawing.markdown_stream import MarkdownStream, drawn_markdown
from coderelay.surfaces.terminal.drawing.prompt_and_note_lines import note, turn_end, user_line
from coderelay.surfaces.terminal.drawing.sanitizing import printable
from coderelay.surfaces.terminal.drawing.thinking_stream import ThinkingStream, drawn_thought
from coderelay.surfaces.terminal.drawing.width_and_truncation import Shortening, cut
from coderelay.surfaces.terminal.subagent_progress import SubagentProgress

_KEPT = 4_000
_SHORTENED_KEPT = 100
_HISTORY_LINES = 6
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


class SessionRenderer:
    """Turns the events and live deltas of a session into text. It prints nothing itself."""

    def __init__(self, session: SessionId, by: By) -> None:
        self._session = session
        self._by = by
        self._streamed: StreamedMessage | None = None
        self._needs: dict[CallId, Need] = {}
        self._subagents = SubagentProgress()
        self._calls: dict[CallId, Call] = {}
        self._running: dict[CallId, RunningCall] = {}
        self._asked: set[CallId] = set()
        self.is_undoing = False
        self.output_lines = 0
        self.is_history = False
        self._shortened: deque[Callable[[int], str]] = deque(maxlen=_SHORTENED_KEPT)
        self._begun_lists: set[CallId] = set()
        self._senders: dict[PromptId, By] = {}

    def was_asked(self, call: CallId) -> None:
        """Note that the person was shown what this call does, in an ask, so that it is not printed again."""
        self._asked.add(call)

    def show_rest(self, width: int) -> str:
        """The last text that was shortened, in full. When it is called again, the shortened text before that one.
        Empty if there is none."""
        return self._shortened.pop()(width) if self._shortened else ""

    @property
    def has_shortened(self) -> bool:
        return bool(self._shortened)

    def take(self, recorded: Recorded, width: int) -> str:
        """The text to print for an event."""
        if recorded.session != self._session:
            return self._subagents.take(recorded.session, recorded.event, width)
        return self._take(recorded.event, width)

    def add_live(self, live: Live, width: int) -> str:
        """Take a live delta. Returns the text that is finished now, to be printed."""
        match live:
            case TextDelta() | ThinkingDelta():
                before = self._end_stream(width) if self._is_another(live) else ""
                if self._streamed is None:
                    self._streamed = StreamedMessage(live.message_id)
                return before + self._streamed.feed(live, width)
            case OutputDelta():
                if live.call_id in self._running:
                    self._running[live.call_id].add_output(live.text)
                return ""
            case Notice():
                return note(retell(live.text, live.said), width)

    def tail(self, width: int, rows: int) -> str:
        """The unfinished part: the end of the streamed message, or of the output of running commands."""
        if self._streamed is not None:
            return self._streamed.tail(width, rows)
        running = list(self._running.items())[-rows:]
        share = rows // len(running) if running else 0
        return "".join(each.tail(width, share, self._subagents.doing(call, width)) for call, each in running)

    def _take(self, event: AnyEvent, width: int) -> str:
        match event:
            case TurnStarted() if event.task == "compact":
                return note(t("compacting the context …"), width)
            case PromptAdmitted() | PromptEdited():
                self._senders[event.prompt_id] = event.by
                return ""
            case PromptRecalled():
                self._senders.pop(event.prompt_id, None)
                return ""
            case TurnStarted() | PromptTaken():
                said = event.typed_text
                return self._drawn(lambda wide, cut: user_line(said, wide, cut), width) + self._sender(
                    event.prompt_id, width
                )
            case MessageAdded():
                self._calls.update({call.id: call for call in event.calls})
                if event.author == "workflow":
                    self._begun_lists.update(call.id for call in event.calls if gives_todos(call.name))
                return self._said(event, width)
            case BatchOpened() | CallProposed():
                if isinstance(event, CallProposed):
                    self._calls[event.call.id] = event.call
                self._needs.update({each.call_id: each.need for each in judged_in(event)})
                return ""
            case CallStarted():
                if (need := self._needs.get(event.call_id)) is not None:
                    self._running[event.call_id] = RunningCall(need)
                return ""
            case ChildOpened():
                self._subagents.opened(event.call_id, event.child)
                return ""
            case CallEnded():
                return self._ended(event, width)
            case TurnEnded():
                return self._turn_ended(event, width)
            case _:
                return self._notice_lines(event, width)

    def _notice_lines(self, event: AnyEvent, width: int) -> str:
        match event:
            case TurnUndone() if event.by != self._by or not self.is_undoing:
                told = t("last turn undone by {who} in {via}", via=event.by.via, who=event.by.who)
                return note(told, width)
            case StopRequested() if event.by != self._by:
                return note(t("stopped by {who} in {via}", via=event.by.via, who=event.by.who), width)
            case HistoryCompacted():
                return note(_compacted(event), width) + drawn_markdown(event.summary, width)
            case HistoryCleared() if event.by != self._by:
                return note(t("context cleared by {who} in {via}", via=event.by.via, who=event.by.who), width)
            case TurnProlonged():
                return note(t("continuing: {reason}", reason=retell(event.reason, event.said)), width)
            case BackgroundEnded():
                end = retell(end_in_words(event.end))
                return note(t("background command {id} {end}", id=event.background_id, end=end), width)
            case AskParked():
                return note(t("nobody answered in time; the question stays open"), width)
            case SessionMoved():
                return note(
                    t("moved to {machine} by {who}", machine=event.machine.name, who=event.by.who),
                    width,
                )
            case SessionDeleted():
                return note(t("session deleted"), width)
            case _:
                return ""

    def _sender(self, prompt: PromptId, width: int) -> str:
        by = self._senders.pop(prompt, self._by)
        return "" if by == self._by else note(t("sent by {who} in {via}", via=by.via, who=by.who), width)

    def _said(self, message: MessageAdded, width: int) -> str:
        streamed, self._streamed = self._streamed, None
        if streamed is not None and streamed.message_id != message.message_id:
            return streamed.cut_off(width) + self._whole(message, width)
        if streamed is None:
            return self._whole(message, width)
        rest = streamed.finish(thinking_of(message.blocks), text_of(message.blocks), width)
        return rest if rest is not None else streamed.cut_off(width) + self._whole(message, width)

    def _ended(self, event: CallEnded, width: int) -> str:
        self._running.pop(event.call_id, None)
        need, call = self._needs.pop(event.call_id, None), self._calls.pop(event.call_id, None)
        if need is None:
            return ""
        asked = event.call_id in self._asked
        self._asked.discard(event.call_id)
        if event.call_id in self._begun_lists and call is not None:
            self._begun_lists.discard(event.call_id)
            return begun_list(call, width)
        outcome, ms = event.outcome, event.ms
        return self._drawn(
            lambda wide, cut: call_ended(need, outcome, ms, wide, call=call, asked=asked, shortening=cut), width
        )

    def _drawn(self, draw: Callable[[int, Shortening], str], width: int) -> str:
        """Draw something that may be shortened; if it is, keep how to draw the whole."""
        lines = self.output_lines if not self.is_history else min(self.output_lines or _HISTORY_LINES, _HISTORY_LINES)
        shortening = Shortening(lines, everything=self.is_history)
        drawn = draw(width, shortening)
        if shortening.left_out:
            self._shortened.append(lambda wide: draw(wide, Shortening()))
        return drawn

    def _whole(self, message: MessageAdded, width: int) -> str:
        """The text of a complete message that was not streamed."""
        if message.author == "workflow":
            return note(text, width) if (text := text_of(message.blocks)) else ""
        parts = [
            drawn_markdown(each.text, width) if isinstance(each, Text) else self._thought(each.thinking, width)
            for each in message.blocks
        ]
        return "".join(parts)

    def _thought(self, thinking: str, width: int) -> str:
        def draw(wide: int, shortening: Shortening) -> str:
            rows = drawn_thought(thinking, wide).splitlines()
            return "".join(f"{row}\n" for row in shortening.other(rows, "  "))

        return self._drawn(draw, width)

    def _turn_ended(self, event: TurnEnded, width: int) -> str:
        self._running.clear()
        return self._end_stream(width) + turn_end(event, width)

    def _is_another(self, live: TextDelta | ThinkingDelta) -> bool:
        return self._streamed is not None and self._streamed.message_id != live.message_id

    def _end_stream(self, width: int) -> str:
        """Abandon the streamed message: it was cut off, or is sent again."""
        streamed, self._streamed = self._streamed, None
        return streamed.cut_off(width) if streamed is not None else ""


def _compacted(event: HistoryCompacted) -> str:
    if not event.summary:
        return t("nothing to compact")
    if event.tokens_after >= event.tokens_before:
        return t("context compacted")
    return t(
        "context compacted: {before} → about {after} tokens, {freed} freed",
        before=f"{event.tokens_before:,}",
        after=f"{event.tokens_after:,}",
        freed=f"{event.tokens_before - event.tokens_after:,}",
    )


class RunningCall:
    """A call that is running, with the last 4,000 characters of its output."""

    def __init__(self, need: Need) -> None:
        self._need = need
        self._begun_at = time.monotonic()
        self._output = ""

    def add_output(self, text: str) -> None:
        self._output = (self._output + text)[-_KEPT:]

    def tail(self, width: int, rows: int, doing: Sequence[str] = ()) -> str:
        """The call and the end of its output. `doing` are lines about the subagent that it has started."""
        seconds = int(time.monotonic() - self._begun_at)
        line = call_line(self._need).rstrip("\n")
        shown = [f"{line} {_DIM}{seconds}s{_PLAIN}"]
        lines = printable(self._output).expandtabs().splitlines()
        for each in lines[1 - rows :] if rows > 1 else ():
            shown.append(f"{_DIM}│ {cut(each, width - 3)}{_PLAIN}")
        shown += doing[: rows - 1]
        return "\n".join(shown) + "\n"


class StreamedMessage:
    """A message of a model that is being streamed."""

    def __init__(self, message_id: MessageId) -> None:
        self.message_id = message_id
        self._part: MarkdownStream | ThinkingStream | None = None
        self._text: list[str] = []
        self._thinking: list[str] = []

    def feed(self, live: TextDelta | ThinkingDelta, width: int) -> str:
        """Take a delta. Returns the text that is finished now."""
        heard, kind = (
            (self._text, MarkdownStream) if isinstance(live, TextDelta) else (self._thinking, ThinkingStream)
        )
        heard.append(live.text)
        before = ""
        if not isinstance(self._part, kind):
            before = self._end_part(width)
            self._part = kind()
        self._part.feed(live.text)
        return before + self._part.take_finished(width)

    def tail(self, width: int, rows: int) -> str:
        return self._part.tail(width, rows) if self._part is not None else ""

    def finish(self, thinking: str, text: str, width: int) -> str | None:
        """The text that is still missing of the complete message. None if the message does not begin as it was
        streamed; then it must be printed as a whole."""
        heard, thought = "".join(self._text), "".join(self._thinking)
        if thinking != thought or not text.startswith(heard):
            return None
        missing = text[len(heard) :]
        told = self.feed(TextDelta(self.message_id, missing), width) if missing else ""
        return told + self._end_part(width)

    def cut_off(self, width: int) -> str:
        rest = self._end_part(width)
        return rest + note(t("interrupted"), width)

    def _end_part(self, width: int) -> str:
        part, self._part = self._part, None
        return part.finish(width) if part is not None else ""
