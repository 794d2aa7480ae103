"""Context window usage: how many tokens the system prompt, tools, prompts, results and so on take."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from coderelay.protocol.calls import Call, Finished
from coderelay.protocol.events import CallProposed, HistoryCompacted, MessageAdded
from coderelay.protocol.message_content import text_of
from coderelay.protocol.query_results import ContextShown
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.session.model_messages import BYTES_PER_TOKEN, IMAGE_BYTES, cut_for_model, result_text
from coderelay.session.state import State

_PARTS = ("system prompt", "tools", "notes", "summary", "prompts", "answers", "tool calls", "results", "images")


def context_of(state: State, model: str, system: str, tools: Sequence[ToolSpec], window: int) -> ContextShown:
    """The usage by part. Sizes are estimates from the number of bytes. Once the provider has counted a request, the
    whole is scaled by the ratio of its count to the estimate for the same part of the history."""
    sizes = Counter[str]({"system prompt": _size(system), "tools": sum(map(_tool_size, tools))})
    guessed = 0
    for entry in state.history:
        match entry:
            case MessageAdded():
                sizes["notes"] += sum(_size(note.text) for note in entry.notes)
                sizes["answers"] += _size(text_of(entry.blocks))
                sizes["tool calls"] += sum(_size(call.name) + _size(call.arguments) for call in entry.calls)
                guessed = sizes.total() if entry.usage.input_tokens else guessed
                _add_results(sizes, state, entry.calls)
            case CallProposed():
                sizes["tool calls"] += _size(entry.call.name) + _size(entry.call.arguments)
                _add_results(sizes, state, (entry.call,))
            case HistoryCompacted():
                sizes["summary"] += _size(entry.summary)
            case _:
                sizes["prompts"] += _size(entry.text)
                sizes["images"] += IMAGE_BYTES * len(state.images.get(entry.prompt_id, ()))
    counted = bool(state.context_tokens and guessed)
    measure = state.context_tokens / guessed if counted else 1 / BYTES_PER_TOKEN
    parts = tuple((name, round(sizes[name] * measure)) for name in _PARTS if sizes[name])
    return ContextShown(model, window, parts, counted)


def _add_results(sizes: Counter[str], state: State, calls: Sequence[Call]) -> None:
    for call in calls:
        outcome = state.calls[call.id].outcome
        if outcome is None:
            continue
        sizes["results"] += _size(cut_for_model(result_text(outcome)))
        sizes["images"] += IMAGE_BYTES * len(outcome.images) if isinstance(outcome, Finished) else 0


def _tool_size(tool: ToolSpec) -> int:
    return _size(tool.name) + _size(tool.description) + len(msgspec.json.encode(tool.parameters))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
