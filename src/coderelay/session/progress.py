"""What an owner writes as a turn goes on: the event itself, and all that follows from it at once.

What follows travels in the same append, so a step with n calls costs n + 1 commits: the message
with its batch and the first start, each end with the next start, the last end.
"""

from collections.abc import Iterable

from coderelay.protocol.asks import Allow, Deny
from coderelay.protocol.calls import Denied, Failed, Outcome, Stopped, Unknown
from coderelay.protocol.content import Usage, text_of
from coderelay.protocol.events import (
    AnyEvent,
    BatchOpened,
    CallEnded,
    CallStarted,
    Ending,
    Judged,
    MessageAdded,
    SessionClaimed,
    StopReason,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import CallId, OwnerId, TurnId
from coderelay.session.next_action import EndTurn, next_action
from coderelay.session.state import CallState, OpenTurn, State

STEP_LIMIT = "step limit reached"


class Claim:
    """What a process that takes a session brings along."""

    def __init__(self, owner: OwnerId, now: int, turn_id: TurnId, max_steps: int, tools: tuple[str, ...]):
        self.owner = owner
        self.now = now
        self.turn_id = turn_id
        self.max_steps = max_steps
        self.tools = tools


def claim(state: State, claim: Claim) -> list[AnyEvent]:
    """Take the session, close what its last owner left open, and go on to the first effect.

    A turn that is only to be ended is ended here, so that a process can do it that has no agent to run.
    """
    epoch = state.epoch + 1
    claimed = SessionClaimed(owner=claim.owner, epoch=epoch)
    if state.turn is None:
        return [claimed, _first_of_queue(state, claim)]
    match next_action(state):
        case EndTurn(stopped=True):
            return [claimed, *close_turn(state, "stopped", now=claim.now)]
        case EndTurn():
            return [claimed, *close_turn(state, "step_limit", now=claim.now, error=STEP_LIMIT)]
        case _:
            pass
    lost = [_ended(each, Unknown()) for each in state.open_calls() if each.started_epoch is not None]
    waiting = [each for each in state.open_calls() if each.started_epoch is None]
    return [claimed, *lost, *_go_on(waiting)]


def after_message(
    state: State, message: MessageAdded, judged: tuple[Judged, ...], *, final: bool, now: int
) -> list[AnyEvent]:
    """A message that meets a stop is kept; nothing that would follow from it begins."""
    turn = _open_turn(state)
    if not message.calls:
        if not final or turn.stop_requested:
            return [message]
        return [
            message,
            _turn_ended(
                turn,
                "done",
                now,
                steps=turn.steps + 1,
                usage=turn.usage.plus(message.usage),
                text=text_of(message.blocks),
                stop_reason=message.stop_reason,
            ),
        ]
    opened = BatchOpened(batch_id=message.message_id, turn_id=message.turn_id, judged=judged)
    if turn.stop_requested or any(each.ask is not None for each in judged):
        return [message, opened]
    pairs = zip(message.calls, judged, strict=True)
    calls = [CallState(call, message.message_id, verdict) for call, verdict in pairs]
    return [message, opened, *_go_on(calls)]


def after_call(state: State, call_id: CallId, outcome: Outcome, *, ms: int, go_on: bool) -> list[AnyEvent]:
    """`go_on` is False when the call was cut short: then the next one must not start."""
    ended = _ended(state.calls[call_id], outcome, ms)
    if _open_turn(state).stop_requested:
        return [ended]
    waiting = [each for each in state.open_calls() if each.started_epoch is None]
    return [ended, *_go_on(waiting, start=go_on)]


def close_turn(
    state: State, ending: Ending, *, now: int, error: str | None = None, text: str | None = None
) -> list[AnyEvent]:
    """End the turn and, before it, every call that has no end yet."""
    ends = [_ended(each, _cut_short(each, ending)) for each in state.open_calls()]
    reason: StopReason = "cancelled" if ending == "stopped" else "end_turn"
    turn = _open_turn(state)
    return [*ends, _turn_ended(turn, ending, now, error=error, stop_reason=reason, text=text)]


def _go_on(calls: Iterable[CallState], *, start: bool = True) -> list[AnyEvent]:
    """End the calls that may not run, up to the first that may; that one starts."""
    events: list[AnyEvent] = []
    for each in calls:
        refused = refusal(each)
        if refused is None:
            started = CallStarted(batch_id=each.batch_id, call_id=each.call.id)
            return [*events, started] if start else events
        events.append(_ended(each, refused))
    return events


def refusal(call: CallState) -> Outcome | None:
    """Why this call ends without running, or None if it may run. Silence is never consent."""
    judged, answer = call.judged, call.answer
    if judged.need.problem is not None:
        return Failed(judged.need.problem)
    if judged.verdict == "allow" or (judged.verdict == "ask" and isinstance(answer, Allow)):
        return None
    if judged.verdict == "deny":
        return Denied(judged.reason)
    told = answer.message if isinstance(answer, Deny) else ""
    return Denied(told or "the person did not allow it")


def _cut_short(call: CallState, ending: Ending) -> Outcome:
    if call.started_epoch is not None:
        return Unknown()
    return Stopped(started=False) if ending == "stopped" else Failed("not run, because the turn failed before")


def _ended(call: CallState, outcome: Outcome, ms: int = 0) -> CallEnded:
    return CallEnded(batch_id=call.batch_id, call_id=call.call.id, outcome=outcome, ms=ms)


def _first_of_queue(state: State, claim: Claim) -> TurnStarted:
    prompt = state.queue[0]
    settings = state.settings
    assert settings is not None
    return TurnStarted(
        turn_id=claim.turn_id,
        prompt_id=prompt.prompt_id,
        text=prompt.text,
        agent=settings.agent,
        model=settings.model,
        mode=settings.mode,
        cwd=settings.cwd,
        max_steps=prompt.max_steps or claim.max_steps,
        tools=claim.tools,
    )


def _turn_ended(
    turn: OpenTurn,
    ending: Ending,
    now: int,
    *,
    error: str | None = None,
    steps: int | None = None,
    usage: Usage | None = None,
    text: str | None = None,
    stop_reason: StopReason = "end_turn",
) -> TurnEnded:
    return TurnEnded(
        turn_id=turn.started.turn_id,
        ending=ending,
        stop_reason=stop_reason,
        text=turn.text if text is None else text,
        error=error,
        usage=turn.usage if usage is None else usage,
        steps=turn.steps if steps is None else steps,
        ms=max(0, now - turn.started_at),
    )


def _open_turn(state: State) -> OpenTurn:
    assert state.turn is not None, "no turn is open"
    return state.turn
