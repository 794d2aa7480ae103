"""What can be told without loading the rules: most turns need neither a list nor a check."""

from coderelay.protocol.calls import Finished, Unknown
from coderelay.session.state import State

_SHORTEST = 20  # three keywords in English are longer
_MARKS = frozenset(",./)\n")  # without one of them nothing in English is told apart


def may_be_complex(prompt: str) -> bool:
    text = prompt.strip()
    return len(text) >= _SHORTEST or not text.isascii() or not _MARKS.isdisjoint(text)


def has_edited(state: State) -> bool:
    """Whether the open turn has changed files with a tool that does just that, or may have."""
    calls = [state.calls[call_id] for call_id in state.turn.calls] if state.turn is not None else []
    return any(each.judged.need.kind == "edit" and isinstance(each.outcome, Finished | Unknown) for each in calls)
