"""Opens the ask about a call that the policy does not decide: a permission, the agent's questions, or a plan."""

from coderelay.protocol.asks import Ask, AskCause, EditMode, PermissionAsk, PlanAsk, QuestionAsk
from coderelay.protocol.calls import Call, Need
from coderelay.protocol.ids import new_ask_id
from coderelay.protocol.wall_clock import now
from coderelay.session.state import State


def ask_about(
    state: State, call: Call, need: Need, reason: str, cause: AskCause, mode: EditMode | None = None
) -> Ask:
    """`mode` is the mode in which the policy would allow the call without asking; the ask offers to switch to it."""
    assert state.turn is not None
    ask_id = new_ask_id(state.session)
    if need.questions:
        return QuestionAsk(
            ask_id, call.id, need.questions, deadline=_deadline(state), unanswered=state.turn.started.unanswered
        )
    if need.plan is not None:
        return PlanAsk(ask_id, need.plan, call.id)
    return PermissionAsk(ask_id, call.id, need, reason, mode=mode, cause=cause)


def _deadline(state: State) -> int | None:
    """An absolute time, so that a restart neither extends nor loses it."""
    assert state.turn is not None
    seconds = state.turn.started.answer_within
    return None if seconds is None else now() + seconds * 1000
