"""Builds the events that an owner appends as a turn goes on: an event, and all that follows from it at once.

What follows travels in the same append, so a step with n calls costs n + 1 commits at most: the message with its
batch and the first start, each end with the next start, the last end. Adjacent calls that only read run at the same
time, and start and end together.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from coderelay.protocol.asks import Ask, PermissionAsk, PlanAsk
from coderelay.protocol.background_commands import Gone
from coderelay.protocol.calls import Denied, Outcome, Stopped, Unknown
from coderelay.protocol.events import (
    AgentAttached,
    AnyEvent,
    AskOpened,
    BatchOpened,
    CallAsked,
    CallEnded,
    CallStarted,
    Ending,
    HistoryCompacted,
    Judged,
    MessageAdded,
    PromptTaken,
    SessionClaimed,
    StopReason,
    TurnEnded,
    TurnProlonged,
    TurnStarted,
)
from coderelay.protocol.ids import AskId, BackgroundId, CallId, OwnerId, TurnId
from coderelay.protocol.message_content import text_of
from coderelay.protocol.session_setting_values import Persistence
from coderelay.protocol.usage_and_cost import Usage, plus
from coderelay.session import background_command_events, external_agent_calls
from coderelay.session.next_action import EndTurn, next_action
from coderelay.session.shell_turns import SHELL, first_events
from coderelay.session.state import CallState, OpenTurn, State
from coderelay.session.unfinished_call_outcomes import Rejudge, cut_short, outcome_without_running

STEP_LIMIT = "step limit reached"


class Claim:
    """What a process brings along to claim a session."""

    def __init__(
        self,
        owner: OwnerId,
        now: int,
        turn_id: TurnId,
        max_steps: int,
        tools: tuple[str, ...],
        gone: Sequence[BackgroundId] = (),
        rejudge: Rejudge | None = None,
        ends: Mapping[CallId, Outcome] | None = None,
        blocking: bool = False,
        verbatim: bool = False,
        partials: Persistence = "until_final",
    ):
        """`gone` lists the background commands whose processes are dead; `ends` holds the outcomes of started task
        calls, as the children's logs tell them; `blocking` and `verbatim` are what the agent of the next turn
        says of itself; `partials` says whether that turn keeps the pieces of its messages."""
        self.owner = owner
        self.now = now
        self.turn_id = turn_id
        self.max_steps = max_steps
        self.tools = tools
        self.gone = gone
        self.rejudge = rejudge
        self.ends = ends or {}
        self.blocking = blocking
        self.verbatim = verbatim
        self.partials: Persistence = partials


def claim(state: State, claim: Claim) -> list[AnyEvent]:
    """Claim the session, close what its last owner left open, and go on to the first effect.

    A turn that is only to be ended is ended here, so that a process without an agent to run it can do that too.
    """
    ended = (event for each in claim.gone for event in background_command_events.end(state, each, Gone()))
    return [*_take(state, claim), *ended]


def _take(state: State, claim: Claim) -> list[AnyEvent]:
    epoch = state.epoch + 1
    claimed = SessionClaimed(owner=claim.owner, epoch=epoch)
    if state.turn is None:
        started = _first_of_queue(state, claim)
        return [claimed, *(first_events(started) if started.task == "shell" else [started])]
    match next_action(state):
        case EndTurn(stopped=True):
            return [claimed, *close_turn(state, "stopped", now=claim.now)]
        case EndTurn():
            return [claimed, *close_turn(state, "step_limit", now=claim.now, error=STEP_LIMIT)]
        case _:
            pass
    if state.is_blocking:
        return [claimed, *external_agent_calls.end_orphaned_calls(state, claim.ends, claim.rejudge)]
    running = [each for each in state.open_calls() if each.started_epoch is not None]
    lost = [_ended(each, claim.ends.get(each.call.id, Unknown())) for each in running]
    waiting = [each for each in state.open_calls() if each.started_epoch is None]
    return [claimed, *lost, *_go_on(waiting, rejudge=_bound(claim.rejudge, state))]


def after_message(
    state: State,
    message: MessageAdded,
    judged: tuple[Judged, ...],
    *,
    final: bool,
    now: int,
    plan_ask: AskId | None = None,
    tree: str = "",
    why_go_on: str = "",
) -> list[AnyEvent]:
    """Add a message and what follows from it. If a stop was requested, the message is kept, but nothing that would
    follow from it begins, and nobody is asked.

    `plan_ask` is the id of the ask that is opened if this ends a turn in plan mode that never asked about its plan;
    `tree` is the snapshot of the files as the turn leaves them, if this ends it; `why_go_on` is the objection of
    hooks to that.
    """
    turn = _open_turn(state)
    if not message.calls:
        if not final or turn.stop_requested:
            return [message]
        steps = turn.steps + (message.author == "model")
        if prolonged := keep_turn_open(turn, why_go_on, steps):
            return [message, *prolonged]
        left = external_agent_calls.end_open_calls(state) if state.is_blocking else []
        if message.author == "workflow":
            return [message, *finish(state, now=now, tree=tree)]
        ended = _turn_ended(
            turn,
            "done",
            now,
            steps=turn.steps + 1,
            usage=turn.usage.plus(message.usage),
            cost=plus(turn.cost, message.cost),
            text=text_of(message.blocks),
            stop_reason=message.stop_reason,
            tree=tree,
        )
        if plan_ask is None or not _owes_a_plan(state, ended.text):
            return [message, *left, ended]
        return [message, *left, AskOpened(turn_id=message.turn_id, ask=PlanAsk(plan_ask, ended.text), then=ended)]
    if turn.stop_requested:
        judged = tuple(replace(each, ask=None) for each in judged)
    opened = BatchOpened(batch_id=message.message_id, turn_id=message.turn_id, judged=judged)
    if turn.stop_requested or any(each.ask is not None for each in judged):
        return [message, opened]
    pairs = zip(message.calls, judged, strict=True)
    calls = [CallState(call, message.message_id, verdict) for call, verdict in pairs]
    return [message, opened, *_go_on(calls)]


def keep_turn_open(turn: OpenTurn, why_go_on: str, steps: int) -> list[AnyEvent]:
    """Keep the turn open because of hooks: once in a turn, and only if there is a step left to go on with."""
    if not why_go_on or turn.prolonged or turn.stop_requested or steps >= turn.started.max_steps:
        return []
    return [TurnProlonged(turn_id=turn.started.turn_id, reason=why_go_on)]


def finish(state: State, *, now: int, tree: str = "", why_go_on: str = "") -> list[AnyEvent]:
    """End a turn that has nothing left to do, unless hooks object."""
    turn = _open_turn(state)
    if prolonged := keep_turn_open(turn, why_go_on, turn.steps):
        return prolonged
    own = (each for each in state.history if isinstance(each, MessageAdded) and each.turn_id == turn.started.turn_id)
    last = next((each for each in reversed([*own]) if each.to_check), None)
    reason = last.stop_reason if last is not None else "end_turn"
    if turn.stop_requested:
        return []
    left = external_agent_calls.end_open_calls(state) if state.is_blocking else []
    return [*left, _turn_ended(turn, "done", now, stop_reason=reason, tree=tree)]


def _owes_a_plan(state: State, said: str) -> bool:
    """Whether a turn in plan mode ends with what may be a plan, but put none before the person. A child's last words
    are for its parent, so they do not count."""
    turn, settings = _open_turn(state), state.settings
    in_plan_mode = settings is not None and settings.mode == "plan" and settings.parent is None
    return in_plan_mode and not turn.planned and bool(said.strip())


class End(Struct, frozen=True):
    """How a call ended, and how long it took."""

    call_id: CallId
    outcome: Outcome
    ms: int


def after_calls(state: State, ends: Sequence[End], *, go_on: bool, rejudge: Rejudge | None = None) -> list[AnyEvent]:
    """End calls that ran at the same time together, in the order of the message. The next call starts once none is
    running any more, unless one was cut short (`go_on` is False)."""
    ended: list[AnyEvent] = [_ended(state.calls[each.call_id], each.outcome, each.ms) for each in ends]
    if _open_turn(state).stop_requested:
        return ended
    over = {each.call_id for each in ends}
    left = [each for each in state.open_calls() if each.call.id not in over]
    if any(each.started_epoch is not None for each in left):
        return ended
    return [*ended, *_go_on(left, start=go_on, rejudge=_bound(rejudge, state))]


def start_next(state: State, rejudge: Rejudge | None) -> list[AnyEvent]:
    """Start the next calls, which were judged earlier and wait for nothing else."""
    return _go_on(state.open_calls(), rejudge=_bound(rejudge, state))


def ask_again(state: State, call_id: CallId, ask: PermissionAsk) -> list[AnyEvent]:
    """Ask about a call that has had no effect yet and must ask first. Once a stop was requested nobody is asked: the
    call just ends."""
    call = state.calls[call_id]
    if _open_turn(state).stop_requested:
        return [_ended(call, Stopped(started=False))]
    return [CallAsked(batch_id=call.batch_id, call_id=call_id, ask=ask)]


def take_steering(state: State) -> list[AnyEvent]:
    """Let prompts that were sent to steer join the turn now, between two of its steps."""
    turn = _open_turn(state)
    if turn.stop_requested or turn.started.task != "prompt":
        return []
    turn_id, steering = turn.started.turn_id, [each for each in state.queue if each.steer]
    return [
        PromptTaken(prompt_id=x.prompt_id, turn_id=turn_id, text=x.text, typed=x.typed, images=len(x.images))
        for x in steering
    ]


def after_compaction(state: State, compacted: HistoryCompacted, *, now: int) -> list[AnyEvent]:
    """Record a compaction. A turn that was started for nothing else ends with it."""
    turn = _open_turn(state)
    if turn.started.task == "prompt" or turn.stop_requested:
        return [compacted]
    spent, cost = turn.usage.plus(compacted.usage), plus(turn.cost, compacted.cost)
    return [compacted, _turn_ended(turn, "done", now, usage=spent, cost=cost, text=compacted.summary)]


def attach(state: State, agent_session_id: str, model: str, tools: tuple[str, ...]) -> list[AnyEvent]:
    """Record the id that the agent's own session has, and what it uses; no event if all that is known."""
    started = _open_turn(state).started
    told = AgentAttached(started.turn_id, started.agent, agent_session_id, model, tools)
    known = state.attached.get(told.agent)
    return [] if known is not None and replace(known, turn_id=told.turn_id) == told else [told]


def pause_for_ask(state: State, ask: Ask) -> list[AnyEvent]:
    """Ask before the next step."""
    turn = _open_turn(state)
    return [] if turn.stop_requested else [AskOpened(turn_id=turn.started.turn_id, ask=ask)]


def close_turn(
    state: State,
    ending: Ending,
    *,
    now: int,
    error: str | None = None,
    text: str | None = None,
    tree: str = "",
    mine: bool = False,
    never_run: Collection[CallId] = (),
) -> list[AnyEvent]:
    """End the turn and, before it, every call that has no end yet. `mine`: this owner's agent ran the calls, and was
    stopped itself. `never_run`: calls that had been started, and were stopped before their tools got them."""
    ends = [
        _ended(each, cut_short(each, ending, mine=mine, never_run=each.call.id in never_run))
        for each in state.open_calls()
    ]
    reason: StopReason = "cancelled" if ending == "stopped" else "end_turn"
    turn = _open_turn(state)
    return [*ends, _turn_ended(turn, ending, now, error=error, stop_reason=reason, text=text, tree=tree)]


_RejudgeCall = Callable[[CallState], Denied | PermissionAsk | None]


def _bound(rejudge: Rejudge | None, state: State) -> _RejudgeCall | None:
    return None if rejudge is None else lambda call: rejudge(state, call)


def _go_on(calls: Sequence[CallState], *, start: bool = True, rejudge: _RejudgeCall | None = None) -> list[AnyEvent]:
    """End the calls that are settled without running, up to the first that may run; start that one, and with it those
    that can run at the same time. Without a `rejudge`, the calls were judged just now."""
    events: list[AnyEvent] = []
    for place, each in enumerate(calls):
        outcome = outcome_without_running(each)
        against = rejudge(each) if rejudge is not None and start and outcome is None else None
        if isinstance(against, PermissionAsk):
            asked = CallAsked(batch_id=each.batch_id, call_id=each.call.id, ask=against)
            return [*events, _started(each), asked]
        if outcome is None and against is None:
            group = concurrent_calls(calls[place:]) if start else []
            fine = takewhile(lambda one, first=each: rejudge is None or one is first or rejudge(one) is None, group)
            return [*events, *map(_started, fine)]
        events.append(_ended(each, against or outcome or Unknown()))
    return events


def _started(call: CallState) -> CallStarted:
    return CallStarted(batch_id=call.batch_id, call_id=call.call.id)


def calls_to_run(state: State) -> list[CallState]:
    """The calls to run now: those that have started, else the first and those that can run at the same time."""
    open_calls = state.open_calls()
    return [each for each in open_calls if each.started_epoch is not None] or concurrent_calls(open_calls)


def concurrent_calls(calls: Sequence[CallState]) -> list[CallState]:
    """The first call and, if it only reads, those right after it that only read too."""
    group = list(calls[:1])
    for each in calls[1:]:
        if not (_only_reads(group[0]) and _only_reads(each) and outcome_without_running(each) is None):
            break
        group.append(each)
    return group


def _only_reads(call: CallState) -> bool:
    need = call.judged.need
    return need.kind == "read" and need.command is None


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
        agent=SHELL if prompt.task == "shell" else settings.agent,
        model=settings.model,
        mode=settings.mode,
        cwd=settings.cwd,
        max_steps=prompt.max_steps or claim.max_steps,
        tools=claim.tools,
        answer_within=prompt.answer_within,
        unanswered=prompt.unanswered,
        task=prompt.task,
        typed=prompt.typed,
        by=prompt.by,
        blocking=claim.blocking and prompt.task == "prompt",
        verbatim=claim.verbatim and prompt.task == "prompt",
        partials=claim.partials,
        images=len(prompt.images),
    )


def _turn_ended(
    turn: OpenTurn,
    ending: Ending,
    now: int,
    *,
    error: str | None = None,
    steps: int | None = None,
    usage: Usage | None = None,
    cost: float | None = None,
    text: str | None = None,
    stop_reason: StopReason = "end_turn",
    tree: str = "",
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
        cost=turn.cost if cost is None else cost,
        tree=tree,
    )


def _open_turn(state: State) -> OpenTurn:
    assert state.turn is not None, "no turn is open"
    return state.turn
