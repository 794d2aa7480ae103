"""A model that goes round in circles: exactly the same call again, with the same result each time."""

from coderelay.protocol.calls import Call
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.events import MessageAdded
from coderelay.session.state import State
from coderelay.session.transcript import result_text

REPEATED = (
    "you made exactly this call twice already and it gave the same result both times, so it is not run again; "
    "do something else, or say what stops you"
)


def repetition(call: Call, state: State) -> str | None:
    """Why this call is not run, or None. Raises ModelFailed if the model was told so and does it again."""
    last, *before = [*_results(call, state), None, None]
    if last is not None and REPEATED in last:
        raise ModelFailed(f"the model repeats the same call of {call.name} again and again")
    return REPEATED if last is not None and last == before[0] else None


def _results(call: Call, state: State) -> list[str]:
    """What this call gave in the steps just before this one, newest first, as far back as each step made it."""
    results: list[str] = []
    for entry in reversed(state.history[-2:]):
        same = _same(call, entry.calls) if isinstance(entry, MessageAdded) else None
        outcome = state.calls[same.id].outcome if same is not None else None
        if outcome is None:
            break
        results.append(result_text(outcome))
    return results


def _same(call: Call, calls: tuple[Call, ...]) -> Call | None:
    wanted = (call.name, call.arguments)
    return next((each for each in calls if (each.name, each.arguments) == wanted), None)
