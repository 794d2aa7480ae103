"""The history of a model (what it was told and has said), as a reader of the log remembers it."""

from msgspec import Struct, field

from coderelay.protocol.calls import Call, Finished, Outcome, Seen
from coderelay.protocol.events import CallProposed, HistoryCompacted, MessageAdded, PromptTaken, TurnStarted
from coderelay.protocol.ids import CallId, TurnId
from coderelay.protocol.message_content import text_of
from coderelay.session.model_messages import SUMMARY_OF_BEFORE
from tests.session.ask_checks import promise

Entry = TurnStarted | PromptTaken | MessageAdded | CallProposed | HistoryCompacted


class Told(Struct):
    """`notes` by topic and `seen` files by path are what the model knows since the last summary. `files` are those
    that calls have shown to it, `topics` what they said of background commands."""

    entries: list[Entry] = field(default_factory=list[Entry])
    notes: dict[str, str] = field(default_factory=dict[str, str])
    seen: dict[str, str] = field(default_factory=dict[str, str])
    files: dict[CallId, tuple[Seen, ...]] = field(default_factory=dict[CallId, tuple[Seen, ...]])
    topics: dict[CallId, list[str]] = field(default_factory=dict[CallId, list[str]])

    def add(self, entry: TurnStarted | PromptTaken | MessageAdded | CallProposed) -> None:
        self.entries.append(entry)
        if isinstance(entry, MessageAdded):
            for note in entry.notes:
                self.notes[note.topic] = note.text

    def end_call(self, call_id: CallId, outcome: Outcome) -> None:
        self.files[call_id] = outcome.seen if isinstance(outcome, Finished) else ()
        started, over = (outcome.background, outcome.over) if isinstance(outcome, Finished) else (None, None)
        self.topics[call_id] = [f"background:{started}"] if started else [f"background:{over}:over"] if over else []
        self._see(call_id)

    def undo(self, turn_id: TurnId) -> None:
        """The model never heard of the turn; but of what it has in its history now it knows all."""
        kept = [entry for entry in self.entries if isinstance(entry, HistoryCompacted) or entry.turn_id != turn_id]
        if kept == self.entries:
            return
        self.entries, self.notes, self.seen = [], {}, {}
        for entry in kept:
            if isinstance(entry, HistoryCompacted):
                self.entries.append(entry)
                continue
            self.add(entry)
            for call in _calls(entry):
                self._see(call.id)

    def _see(self, call_id: CallId) -> None:
        """A file that was read again has not changed any more."""
        for file in self.files[call_id]:
            self.seen[file.path] = file.mark
            self.notes = {topic: text for topic, text in self.notes.items() if topic != f"file:{file.path}"}
        self.notes |= dict.fromkeys(self.topics[call_id], "")

    def compact(self, event: HistoryCompacted) -> None:
        promise(0 <= event.dropped <= len(self.entries), "more was summed up than there is")
        del self.entries[: event.dropped]
        self.entries.insert(0, event)
        self.notes, self.seen = {}, {}

    def clear(self) -> None:
        self.entries, self.notes, self.seen = [], {}, {}

    def calls(self) -> list[CallId]:
        return [call.id for entry in self.entries for call in _calls(entry)]

    def by_the_model(self) -> str:
        return "".join(text_of(entry.blocks) for entry in self._messages())

    def by_others(self) -> list[str]:
        """What stands before, between and after the model's messages: notes before the prompts they came with."""
        runs: list[list[str]] = [[]]
        for entry in self.entries:
            match entry:
                case MessageAdded():
                    notes = "\n".join(note.text for note in entry.notes)
                    runs[-1] = [notes, *runs[-1]] if notes else runs[-1]
                    if text_of(entry.blocks) or entry.calls:
                        runs.append([])
                case CallProposed():
                    runs.append([])
                case HistoryCompacted():
                    runs[-1].append(SUMMARY_OF_BEFORE.format(summary=entry.summary))
                case _:
                    runs[-1].append(entry.text)
        return ["\n\n".join(run) for run in runs if run]

    def _messages(self) -> list[MessageAdded]:
        return [entry for entry in self.entries if isinstance(entry, MessageAdded)]


def _calls(entry: Entry) -> tuple[Call, ...]:
    if isinstance(entry, CallProposed):
        return (entry.call,)
    return entry.calls if isinstance(entry, MessageAdded) else ()
