"""Quick filters that decide whether the rules of the workflow are loaded at all.

Most turns need neither a todo list nor a check.
"""

from coderelay.protocol.calls import Finished, Unknown
from coderelay.session.state import State

_SHORTEST = 20  # characters; a text with three English keywords is longer
_MARKS = frozenset(",./)\n")  # without one of these characters, an English text has no separate items


def may_be_complex(prompt: str) -> bool:
    """False only if the prompt is certainly a simple one."""
    text = prompt.strip()
    return len(text) >= _SHORTEST or not text.isascii() or not _MARKS.isdisjoint(text)


def has_edited(state: State) -> bool:
    """Whether the open turn has changed files with an editing tool, or may have."""
    calls = [state.calls[call_id] for call_id in state.turn.calls] if state.turn is not None else []
    return any(each.judged.need.kind == "edit" and isinstance(each.outcome, Finished | Unknown) for each in calls)
