"""The conversation as a model sees it: a valid message history, whatever was cut off.

Every call is followed by its result, in the order of the calls, and user and assistant messages alternate: a prompt
that got no answer is joined with the next one, and consecutive messages of an agent are joined too. Notes to the
model stand before the prompt, or after the results.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from coderelay.protocol.calls import Call, Denied, Failed, Finished, Outcome, Stopped, Unknown
from coderelay.protocol.events import HistoryCompacted, MessageAdded, PromptTaken, TurnStarted
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Block, Image, Note, text_of
from coderelay.session.state import Entry, State, calls_of

RESULT_CHARS = 60_000

# Estimates of how much of the window something fills, before a provider has counted it.
BYTES_PER_TOKEN = 4  # a little much for English, a little less for Chinese
IMAGE_BYTES = 6000
_WORKFLOW_CHARS = 12_000
_OUR_TAGS = (
    r"(?i)<(?=[\s/]*(?:workflow|reminder|summary|mode|environment|file-changed|hook|background|skills"
    r"|shell|command|exit_code|stdout|stderr|outcome)\b)"
)

SUMMARY_OF_BEFORE = """\
<summary>
What happened so far, summed up because it became too long:

{summary}
</summary>"""


class UserMessage(Struct, frozen=True):
    text: str
    images: tuple[Image, ...] = ()


class AssistantMessage(Struct, frozen=True):
    blocks: tuple[Block, ...]
    calls: tuple[Call, ...]


class ToolMessage(Struct, frozen=True):
    call_id: CallId
    name: str
    text: str
    images: tuple[Image, ...] = ()
    failed: bool = False


Message = UserMessage | AssistantMessage | ToolMessage


class Transcript:
    """A transcript that grows with the state, so that a long session is not walked again at every step.

    `messages` keeps the same objects from one `update` to the next, except that the last one may be replaced by a
    longer one.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._entries: list[Entry] = []

    def update(self, state: State) -> list[Message]:
        first = self._entries[0] if self._entries else None
        if first is not None and (not state.history or state.history[0] is not first):
            # The beginning was summed up or cleared.
            self.messages, self._entries = [], []
        for entry in state.history[len(self._entries) :]:
            if isinstance(entry, MessageAdded) and entry.notes:
                self.messages = with_notes(self.messages, entry.notes)
            for message in _messages(state, entry):
                self._append(message)
            self._entries.append(entry)
        return self.messages

    def _append(self, message: Message) -> None:
        last = self.messages[-1] if self.messages else None
        if isinstance(message, UserMessage) and isinstance(last, UserMessage):
            self.messages[-1] = UserMessage(f"{last.text}\n\n{message.text}", (*last.images, *message.images))
        elif isinstance(message, AssistantMessage) and isinstance(last, AssistantMessage):
            self.messages[-1] = AssistantMessage((*last.blocks, *message.blocks), message.calls)
        else:
            self.messages.append(message)


def transcript(state: State) -> list[Message]:
    return Transcript().update(state)


def with_notes(messages: list[Message], notes: Sequence[Note]) -> list[Message]:
    """The history with the notes that the model is told just before it answers. The same notes at the same place give
    the same messages, both when they are told and whenever the log is read again."""
    if not notes:
        return messages
    text = "\n".join(note.text for note in notes)
    last = messages[-1] if messages else None
    if isinstance(last, UserMessage):
        return [*messages[:-1], UserMessage(f"{text}\n\n{last.text}", last.images)]
    return [*messages, UserMessage(text)]


def _messages(state: State, entry: Entry) -> Iterator[Message]:
    if isinstance(entry, TurnStarted | PromptTaken):
        yield UserMessage(entry.text, state.images.get(entry.prompt_id, ()))
        return
    if isinstance(entry, HistoryCompacted):
        if entry.summary:
            yield UserMessage(SUMMARY_OF_BEFORE.format(summary=entry.summary))
        return
    if isinstance(entry, MessageAdded) and entry.author == "workflow":
        yield UserMessage(_by_workflow(state, entry))
        return
    if isinstance(entry, MessageAdded) and entry.author == "person":
        yield UserMessage("\n".join(_by_person(call, state.calls[call.id].outcome) for call in entry.calls))
        return
    blocks = entry.blocks if isinstance(entry, MessageAdded) else ()
    if text_of(blocks) or calls_of(entry):  # servers accept no message of thoughts alone
        yield AssistantMessage(blocks, calls_of(entry))
    for call in calls_of(entry):
        outcome = state.calls[call.id].outcome
        assert outcome is not None, f"call {call.id} has no end yet"
        images = outcome.images if isinstance(outcome, Finished) else ()
        text = cut_for_model(result_text(outcome))
        yield ToolMessage(call.id, call.name, text, images, failed=not isinstance(outcome, Finished))


def _by_workflow(state: State, message: MessageAdded) -> str:
    """A workflow message as text, since no provider accepts calls that its model did not write. The results of the
    calls are data: they can neither close the tag around them nor open another tag of coderelay."""
    told = [text_of(message.blocks)]
    for call in message.calls:
        outcome = state.calls[call.id].outcome
        assert outcome is not None, f"call {call.id} has no end yet"
        result = cut_for_model(result_text(outcome), _WORKFLOW_CHARS)
        told.append(f"{call.name} {call.arguments}\n{result}")
    text = re.sub(_OUR_TAGS, r"<\\", "\n".join(filter(None, told)))
    return f"<workflow>\n{text}\n</workflow>"


def _by_person(call: Call, outcome: Outcome | None) -> str:
    """A shell turn as text. What the command wrote is escaped here too, as data."""
    assert outcome is not None, f"call {call.id} has no end yet"
    command = msgspec.json.decode(call.arguments, type=dict[str, str])["command"]
    parts = [_part("command", command)]
    if isinstance(outcome, Finished) and outcome.exit_code is not None:
        parts.append(f"<exit_code>{outcome.exit_code}</exit_code>")
        parts += [_part("stdout", outcome.output), _part("stderr", outcome.errors)]
    else:
        parts.append(_part("outcome", result_text(outcome)))
    told = "\n".join(parts)
    return f"<shell>\nThe person ran this command in a shell of their own.\n{told}\n</shell>"


def _part(name: str, text: str) -> str:
    inner = re.sub(_OUR_TAGS, r"<\\", cut_for_model(text, RESULT_CHARS // 2))
    return f"<{name}>\n{inner}\n</{name}>" if inner else f"<{name}></{name}>"


def cut_for_model(text: str, most: int = RESULT_CHARS) -> str:
    """Cut the middle out of a long text. People can see the whole; a model would have no room left for anything
    else."""
    if len(text) <= most:
        return text
    half = most // 2
    left_out = f"[{len(text) - 2 * half} characters left out here; to see them, ask for less at a time]"
    return f"{text[:half]}\n{left_out}\n{text[-half:]}"


def result_text(outcome: Outcome) -> str:
    match outcome:
        case Finished():
            return "\n\n".join(filter(None, [_output(outcome) or "(no output)", outcome.feedback]))
        case Failed():
            return f"Error: {outcome.message}"
        case Denied():
            return f"Not allowed: {outcome.message}. The call did not run."
        case Stopped(started=True):
            stopped = "Stopped by the person while it ran. It may have had effects; check before repeating it."
            return f"{stopped} It had written:\n{outcome.output}" if outcome.output else stopped
        case Stopped():
            return "Not run: the person stopped the turn."
        case Unknown():
            return "Interrupted: the process that ran it went away. It may have run; check before repeating it."


def _output(outcome: Finished) -> str:
    failed = f"exit code {outcome.exit_code}" if outcome.exit_code else ""
    return "\n".join(filter(None, [outcome.output, outcome.errors, failed]))
