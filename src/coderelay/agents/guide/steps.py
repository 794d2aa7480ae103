"""What comes next in a turn of the guide, from its log alone."""

from collections.abc import Callable, Sequence

import msgspec

from coderelay.agents.guide.intents import plan_for
from coderelay.agents.guide.plans import Plan, Proposal
from coderelay.agents.guide.replies import Words
from coderelay.protocol.calls import Call
from coderelay.protocol.events import MessageAdded
from coderelay.protocol.ids import CallId, new_id
from coderelay.session.state import CallState, State


def next_step(state: State, programs: Callable[[], Sequence[str]]) -> Call | str:
    """A call to make, or the last word."""
    assert state.turn is not None
    started = state.turn.started
    words = Words(started.text, programs)
    if started.task == "compact":
        return words.say("nothing_to_compact")
    messages = [each for each in state.history if isinstance(each, MessageAdded) and each.turn_id == started.turn_id]
    calls = [state.calls[call.id] for message in messages for call in message.calls]
    step = replay(plan_for(started.text, words), calls)
    if isinstance(step, Proposal):
        return Call(CallId(f"call_{new_id()}"), step.tool, _json(step))
    return words.say("another_version") if step is None else step


def replay(plan: Plan, calls: Sequence[CallState]) -> Proposal | str | None:
    """A plan is played from its beginning with what the log has of its calls, so any process can go on with it.
    None if these are not its calls."""
    try:
        proposal = next(plan)
        for each in calls:
            if (each.call.name, each.call.arguments) != (proposal.tool, _json(proposal)):
                return None
            proposal = plan.send(each)
    except StopIteration as ended:
        return ended.value
    return proposal


def _json(proposal: Proposal) -> str:
    return msgspec.json.encode(proposal.arguments).decode()
