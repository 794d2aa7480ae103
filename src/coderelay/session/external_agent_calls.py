"""Blocking turns: the agent runs its own loop and its own calls, and waits for answers in the middle of it.

It asks about one call at a time, so a batch grows call by call. While an ask is open, the turn keeps its owner, whose
agent holds the ask. If that process dies, or leaves because nobody answers in time, the ask stays open; the next
owner's agent is told the answer, and the same call is then allowed once without asking again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from coderelay.protocol.asks import Allow, Answers, By, Decision, Deny, PermissionAsk, PlanDecision
from coderelay.protocol.calls import Call, Denied, Failed, Finished, Need, Outcome, Unknown
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    BatchResumed,
    CallAsked,
    CallEnded,
    CallProposed,
    CallStarted,
    Judged,
    MessageAdded,
    TurnParked,
)
from coderelay.protocol.ids import CallId, MessageId, derived_id
from coderelay.session.state import CallState, OpenTurn, State
from coderelay.session.unfinished_call_outcomes import Rejudge, outcome_without_running

AGENT = By(who="the agent", via="agent")
NOT_ASKED = "the agent made this call without asking"
NOT_REACHED = "the call was allowed, but the process that ran the agent ended before the call began"
WITHDRAWN = "the agent withdrew the call"
ENDED = "the agent has already told how this call ended"
GRANTED = "it was allowed before the process that ran the agent ended"


class Continuation(Struct, frozen=True):
    """What the agent of a turn that another process began must know: the calls on which people decided and that never
    ran, and those that may have run."""

    answered: tuple[CallState, ...]
    unknown: tuple[CallState, ...]


def propose(state: State, call: Call, judged: Judged) -> list[AnyEvent]:
    """Record a call that the agent wants to make, with what follows at once: it starts if it is allowed, and ends if
    it is denied. Nothing is recorded after a stop, nor of a call that the log knows: its agent asks about it twice at
    the same time, or told how it ended while it was judged."""
    if _open_turn(state).stop_requested or call.id in state.calls:
        return []
    proposed = _proposed(state, call, judged)
    fresh = CallState(call, proposed.batch_id, judged)
    if judged.ask is not None:
        return [proposed]
    outcome = outcome_without_running(fresh)
    return [proposed, _started(fresh) if outcome is None else _ended(fresh, outcome)]


def is_released(state: State, call_id: CallId, *, together: bool) -> bool:
    """Whether the agent may be told the answer about its call: once there is one, and with `together` once no other
    ask is open either."""
    asked = state.calls[call_id].judged.ask
    if asked is not None and state.asks[asked.id].decision is None:
        return False
    return not together or not state.open_asks()


def release(state: State, call_id: CallId, rejudge: Rejudge) -> list[AnyEvent]:
    """What follows from the answer about a call: it starts, ends as it was decided, or must be asked about again
    because the policy has changed meanwhile."""
    call = state.calls[call_id]
    if call.outcome is not None or call.started_epoch is not None or _open_turn(state).stop_requested:
        return []
    if (outcome := _refused(call)) is not None:
        return [_ended(call, outcome)]
    match rejudge(state, call):
        case None:
            return [_started(call)]
        case PermissionAsk() as ask:
            return [_started(call), CallAsked(batch_id=call.batch_id, call_id=call_id, ask=ask)]
        case Denied() as denied:
            return [_ended(call, denied)]


def decision_on(state: State, call_id: CallId) -> Decision:
    """What the agent is told about a call that is not held any more. It must not make one that has ended."""
    call = state.calls[call_id]
    judged = call.judged
    if call.outcome is not None and not isinstance(call.answer, PlanDecision):
        return Deny(call.outcome.message if isinstance(call.outcome, Denied | Failed) else ENDED)
    if judged.granted_by is not None:
        return state.calls[judged.granted_by].answer or Allow()
    return call.answer or Allow()


def record_end(state: State, call: Call, need: Need, outcome: Outcome, ms: int = 0) -> list[AnyEvent]:
    """Record how a call ended, as its agent tells it. A call that the agent did not ask about is proposed and started
    in the same append. An ask that is still open is withdrawn. If two ends are reported, the first one is
    recorded."""
    known = state.calls.get(call.id)
    if known is None:
        if _open_turn(state).stop_requested:
            return []
        proposed = _proposed(state, call, Judged(call.id, "allow", need, NOT_ASKED))
        fresh = CallState(call, proposed.batch_id, proposed.judged)
        return [proposed, _started(fresh), _ended(fresh, outcome, ms)]
    if known.outcome is not None:
        return []
    if known.started_epoch is not None:
        return [_ended(known, outcome, ms)]
    withdrawn = _withdraw(state, [known])
    if isinstance(outcome, Finished) and not _open_turn(state).stop_requested:
        return [*withdrawn, _started(known), _ended(known, outcome, ms)]  # it ran, whoever allowed it
    return [*withdrawn, _ended(known, _outcome_of_abandoned_call(known))]


def may_be_left(state: State, *, together: bool) -> bool:
    """Whether the owner may end its agent and leave the turn: all asks that are open are parked, no call runs, and
    nothing else is decided that the agent waits to be told."""
    asks = state.open_asks()
    if not asks or not all(state.asks[each.id].parked for each in asks):
        return False
    return not any(
        each.started_epoch is not None or is_released(state, each.call.id, together=together)
        for each in state.open_calls()
    )


def park(state: State) -> list[AnyEvent]:
    """The owner leaves the turn to whoever comes after the answers. No event if they are there already: then the
    owner itself carries the turn on."""
    turn = state.turn
    return [TurnParked(turn_id=turn.started.turn_id)] if turn is not None and state.open_asks() else []


def end_open_calls(state: State) -> list[AnyEvent]:
    """End the calls whose agent ends its turn without having told how they ended, and withdraw its asks."""
    left = state.open_calls()
    ends = [Unknown() if each.started_epoch is not None else _outcome_of_abandoned_call(each) for each in left]
    return [*_withdraw(state, left), *(_ended(each, end) for each, end in zip(left, ends, strict=True))]


def end_orphaned_calls(state: State, ends: Mapping[CallId, Outcome], rejudge: Rejudge | None) -> list[AnyEvent]:
    """End the calls that a dead owner left open. Their asks are all answered. A call that was allowed and never
    started may be made again by the agent, which then needs no other answer."""
    return [_ended(each, _outcome_after_owner_died(state, each, ends, rejudge)) for each in state.open_calls()]


def _outcome_after_owner_died(
    state: State, call: CallState, ends: Mapping[CallId, Outcome], rejudge: Rejudge | None
) -> Outcome:
    if call.started_epoch is not None:
        return ends.get(call.call.id, Unknown())
    if (outcome := outcome_without_running(call)) is not None:
        return outcome
    against = rejudge(state, call) if rejudge is not None else None
    return against if isinstance(against, Denied) else Failed(NOT_REACHED)


def with_grant(state: State, judged: Judged, call: Call) -> Judged:
    """The verdict on a call, given that people may have allowed an equal one that never ran. A denial stays one. Each
    such answer is used once."""
    granted = None if judged.verdict == "deny" else _grant_for(state, call)
    if granted is None:
        return judged
    return replace(judged, verdict="allow", ask=None, reason=GRANTED, said=None, granted_by=granted.call.id)


def _grant_for(state: State, call: Call) -> CallState | None:
    turn = _open_turn(state)
    calls = [state.calls[each] for each in turn.calls]
    used = {each.judged.granted_by for each in calls}
    return next(
        (each for each in calls if _grants(each) and each.call.id not in used and _equal(each.call, call)), None
    )


def _grants(call: CallState) -> bool:
    never_ran = call.outcome is not None and call.started_epoch is None and not isinstance(call.outcome, Denied)
    return never_ran and isinstance(call.answer, Allow | Answers | PlanDecision)


def _equal(one: Call, other: Call) -> bool:
    return one.name == other.name and _arguments(one) == _arguments(other)


def _arguments(call: Call) -> Any:
    try:
        return msgspec.json.decode(call.arguments)
    except (msgspec.DecodeError, RecursionError):
        return call.arguments


def continuation(state: State) -> Continuation | None:
    """What a process that carries on a turn finds; None if the turn began with this claim."""
    turn = _open_turn(state)
    if not turn.claims:
        return None
    calls = [state.calls[each] for each in turn.calls]
    return Continuation(
        answered=tuple(each for each in calls if each.answer is not None and each.started_epoch is None),
        unknown=tuple(each for each in calls if isinstance(each.outcome, Unknown)),
    )


def _refused(call: CallState) -> Outcome | None:
    """How a call ends that the agent must not make; None if it may. Answers and approved plans are for the agent."""
    outcome = outcome_without_running(call)
    return outcome if isinstance(outcome, Denied | Failed) else None


def _outcome_of_abandoned_call(call: CallState) -> Outcome:
    """The outcome of a call that the agent has given up."""
    undecided = call.judged.verdict == "ask" and call.answer is None
    return Denied(WITHDRAWN) if undecided else _refused(call) or Denied(WITHDRAWN)


def _withdraw(state: State, calls: Sequence[CallState]) -> list[AnyEvent]:
    """Close the open asks of calls that the agent no longer wants to make, so that people are not asked
    needlessly."""
    still_open = {ask.id for ask in state.open_asks()}
    asks = [each.judged.ask.id for each in calls if each.judged.ask is not None and each.judged.ask.id in still_open]
    answers = [AskAnswered(ask_id=each, decision=Deny(WITHDRAWN), by=AGENT) for each in asks]
    resumes = state.batch is not None and bool(asks) and len(asks) == len(still_open)
    return [*answers, *([BatchResumed(batch_id=state.batch.id)] if resumes and state.batch is not None else [])]


def _proposed(state: State, call: Call, judged: Judged) -> CallProposed:
    turn_id = _open_turn(state).started.turn_id
    return CallProposed(turn_id=turn_id, batch_id=_batch(state), call=call, judged=judged)


def _batch(state: State) -> MessageId:
    """The batch that the next call belongs to: the open one as long as a call of it is open, else that of the last
    message of the turn. An agent may call a tool before it says anything."""
    if state.batch is not None and state.open_calls():
        return state.batch.id
    turn_id = _open_turn(state).started.turn_id
    own = (each for each in reversed(state.history) if isinstance(each, MessageAdded) and each.turn_id == turn_id)
    last = next(own, None)
    return last.message_id if last is not None else MessageId(derived_id(turn_id, "batch"))


def _started(call: CallState) -> CallStarted:
    return CallStarted(batch_id=call.batch_id, call_id=call.call.id)


def _ended(call: CallState, outcome: Outcome, ms: int = 0) -> CallEnded:
    return CallEnded(batch_id=call.batch_id, call_id=call.call.id, outcome=outcome, ms=ms)


def _open_turn(state: State) -> OpenTurn:
    assert state.turn is not None, "no turn is open"
    return state.turn
