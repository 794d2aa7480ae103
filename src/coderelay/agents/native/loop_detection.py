"""Loop detection: finds a model that makes the same calls again and again and gets the same results."""

from collections.abc import Sequence

from coderelay.protocol.calls import Call
from coderelay.protocol.events import MessageAdded
from coderelay.session.model_messages import result_text
from coderelay.session.state import State

REPEATED = (
    "you made exactly this call twice already and it gave the same result both times, so it is not run again; "
    "do something else, or say what stops you"
)
_ROUNDS = {1: 2, 2: 3, 3: 3}  # messages in a round: how many equal rounds make a loop


def find_repeated(calls: Sequence[Call], state: State) -> MessageAdded | None:
    """If these calls would continue a loop, the last message that made the same calls; otherwise None. A loop is a
    round of one to three messages that has been repeated with the same results."""
    for length, rounds in _ROUNDS.items():
        last = _messages(state, length * rounds)
        if not last or _wanted(last[-length].calls) != _wanted(calls):
            continue
        if all(_are_equal_rounds(one, next_one, state) for one, next_one in zip(last, last[length:], strict=False)):
            return last[-length]
    return None


def was_warned(message: MessageAdded, state: State) -> bool:
    """Whether the model was told, as a result of this message, that it repeats itself."""
    return any(REPEATED in result for result in _results(message, state))


def _messages(state: State, count: int) -> list[MessageAdded]:
    """The last `count` messages with calls, or none if there are fewer or if something else was said in between."""
    entries = state.history[-count:]
    messages = [each for each in entries if isinstance(each, MessageAdded) and each.calls]
    return messages if len(messages) == count else []


def _are_equal_rounds(one: MessageAdded, other: MessageAdded, state: State) -> bool:
    if _wanted(one.calls) != _wanted(other.calls):
        return False
    return was_warned(other, state) or _results(one, state) == _results(other, state)


def _wanted(calls: Sequence[Call]) -> list[tuple[str, str]]:
    return [(each.name, each.arguments) for each in calls]


def _results(message: MessageAdded, state: State) -> list[str]:
    outcomes = [state.calls[call.id].outcome for call in message.calls]
    return [result_text(each) for each in outcomes if each is not None]
