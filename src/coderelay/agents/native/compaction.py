"""Compaction: replaces the beginning of a long history with a summary, for the model only.

The last messages are kept unchanged, and the log keeps everything.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from coderelay.agents.native.prompt.notes_for_model import last_todos
from coderelay.protocol.events import CallProposed, HistoryCompacted, MessageAdded, PromptTaken, TurnStarted
from coderelay.protocol.message_content import text_of
from coderelay.session.model_messages import (
    BYTES_PER_TOKEN,
    IMAGE_BYTES,
    AssistantMessage,
    Message,
    ToolMessage,
    UserMessage,
    transcript,
)
from coderelay.session.state import State

SUMMARISER = """\
You sum up the work of a coding agent so that it can go on with nothing but your summary. Write what it must know, \
in short points under these headings, leaving out a heading that has nothing:
Goal (what the person wants, their instructions and preferences, in their own words where they matter)
Decisions (what was decided and why)
Files (each file that was read or changed and what matters of it now)
Done (what was done and checked, with results)
Open (what failed, what is unclear, what is left)
Next (the very next step)
Keep exact names, paths, commands, numbers and error messages. No greeting, no advice of your own."""

_RESULT_BYTES = 2000
_KEPT_SHARE = 0.3  # the largest share of the window for messages that are kept unchanged
_KEPT_BYTES_IF_WANTED = 4000
_SUMMARY_SHARE = 0.2
_ASKED_SHARE = 0.15

_ASKED = "What the person asked for in this turn, word for word:\n"
_GAP = "\n(…)\n"
_LEFT_OUT = "(something is left out here)"


class CompactionSettings(Struct, frozen=True):
    """`threshold` is the share of the model's window that may be filled before a compaction. `keep` is how many
    messages are kept unchanged."""

    threshold: float = 0.8
    keep: int = 12


def is_due(state: State, messages: Sequence[Message], overhead: int, window: int, threshold: float) -> bool:
    """Whether the history needs a compaction. `overhead` is the size of a request without its messages, in bytes."""
    return tokens_now(state, messages, overhead) > threshold * window


def tokens_now(state: State, messages: Sequence[Message], overhead: int) -> int:
    """The provider's last token count plus an estimate for what came after it, or only an estimate if the provider
    does not count."""
    if not state.context_tokens:
        return (overhead + sum(map(_size, messages))) // BYTES_PER_TOKEN
    since = 0
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            break
        since += _size(message)
    return state.context_tokens + since // BYTES_PER_TOKEN


def entries_to_drop(state: State, keep: int, window: int) -> int:
    """How many entries to drop from the start of the history. At least one if there are any, so that the history
    always becomes shorter. A person who asks for a compaction wants room, so only short messages are kept then."""
    room = int(window * _KEPT_SHARE) * BYTES_PER_TOKEN
    if is_wanted(state):
        room = min(room, _KEPT_BYTES_IF_WANTED)
    kept_messages = kept_bytes = 0
    for place in range(len(state.history) - 1, 0, -1):
        messages = transcript(replace(state, history=[state.history[place]]))
        kept_messages += len(messages)
        kept_bytes += sum(map(_size, messages))
        if kept_messages > keep or kept_bytes > room:
            return place + 1
    return min(1, len(state.history))


def is_wanted(state: State) -> bool:
    """Whether a person asks for the compaction (`/compact`)."""
    return state.turn is not None and state.turn.started.task == "compact"


def freed_tokens(state: State, dropped: int, summary: str) -> int:
    """An estimate of how much shorter the context becomes if the summary replaces the dropped entries."""
    before = sum(map(_size, transcript(replace(state, history=state.history[:dropped]))))
    return max(0, before - len(summary.encode())) // BYTES_PER_TOKEN


def summariser_input(state: State, dropped: int, window: int) -> str:
    """The history to summarise, with long results truncated. If it is too long, the beginning (the first request or
    the previous summary) and the newest parts are kept."""
    messages = transcript(replace(state, history=state.history[:dropped]))
    beginning, *parts = [part for message in messages for part in _rendered(message)]
    room = window * BYTES_PER_TOKEN // 2
    beginning = _cut(beginning, room // 3)
    room -= len(beginning.encode())
    newest: list[str] = []
    for part in reversed(parts):
        size = len(part.encode())
        if size > room:
            newest += [_cut(part, room), _LEFT_OUT]
            break
        newest.append(part)
        room -= size
    return "\n\n".join([beginning, *reversed(newest)])


def with_open_requests(summary: str, state: State, dropped: int, window: int) -> str:
    """The summary with the todo list and the requests of the open turn, which are not left to the summariser's
    judgement. The requests come last, so that the next compaction can find them and take them over."""
    room = window * BYTES_PER_TOKEN
    parts = [_cut(summary.strip(), int(room * _SUMMARY_SHARE))]
    items, _ = last_todos(state)
    if any(each.status != "completed" for each in items):
        parts.append("The todo list:\n" + "\n".join(f"- [{each.status}] {each.content}" for each in items))
    asked = _asked_in_this_turn(state, dropped)
    if asked:
        parts.append(_ASKED + _cut("\n\n".join(asked), int(room * _ASKED_SHARE)))
    return "\n\n".join(parts)


def _asked_in_this_turn(state: State, dropped: int) -> list[str]:
    turn_id = state.turn.started.turn_id if state.turn is not None else None
    asked: list[str] = []
    for entry in state.history[:dropped]:
        if entry.turn_id != turn_id:
            continue
        match entry:
            case TurnStarted() | PromptTaken():
                asked.append(entry.text)
            case HistoryCompacted():
                _, found, before = entry.summary.rpartition(_ASKED)
                asked += [before] if found else []
            case MessageAdded() | CallProposed():
                pass
    return asked


def _rendered(message: Message) -> list[str]:
    match message:
        case UserMessage():
            return [f"Person: {message.text}{_with_images(message)}"]
        case ToolMessage():
            return [f"Result of {message.name}: {_cut(message.text)}{_with_images(message)}"]
        case AssistantMessage():
            said = text_of(message.blocks)
            calls = [f"Agent calls {call.name} {_cut(call.arguments)}" for call in message.calls]
            return [f"Agent: {said}", *calls] if said else calls


def _with_images(message: UserMessage | ToolMessage) -> str:
    count = len(message.images)
    return "" if not count else " (with an image)" if count == 1 else f" (with {count} images)"


def _cut(text: str, most: int = _RESULT_BYTES) -> str:
    """The beginning and the end of a text, at most `most` bytes in all."""
    whole = text.encode()
    if len(whole) <= most:
        return text
    half = max(0, most - len(_GAP)) // 2
    return whole[:half].decode("utf-8", "ignore") + _GAP + whole[len(whole) - half :].decode("utf-8", "ignore")


def _size(message: Message) -> int:
    match message:
        case UserMessage() | ToolMessage():
            return len(message.text.encode()) + IMAGE_BYTES * len(message.images)
        case AssistantMessage():
            arguments = sum(len(call.arguments.encode()) for call in message.calls)
            return len(text_of(message.blocks).encode()) + arguments
