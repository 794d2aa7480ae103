"""Folds the event log into a session's state. The only place where state changes."""

from collections.abc import Iterable

from msgspec.structs import replace

from coderelay.protocol.asks import Allow, BudgetAsk, OfferAsk, PlanAsk
from coderelay.protocol.calls import Finished
from coderelay.protocol.events import (
    AgentAttached,
    ApprovalGranted,
    ApprovalRevoked,
    AskAnswered,
    AskOpened,
    AskParked,
    BackgroundEnded,
    BackgroundStopRequested,
    BatchOpened,
    BatchResumed,
    CallAsked,
    CallEnded,
    CallProposed,
    CallStarted,
    ChildOpened,
    EnvironmentSetUp,
    HistoryCleared,
    HistoryCompacted,
    MessageAdded,
    MessageKept,
    PartialsKept,
    PromptAdmitted,
    PromptEdited,
    PromptRecalled,
    PromptTaken,
    Recorded,
    SessionClaimed,
    SessionConfigured,
    SessionCreated,
    SessionDeleted,
    SessionForked,
    SessionMoved,
    StopRequested,
    TreeTaken,
    TurnEnded,
    TurnParked,
    TurnProlonged,
    TurnStarted,
    TurnUndone,
    Unrecognised,
)
from coderelay.protocol.ids import SessionId
from coderelay.protocol.message_content import text_of
from coderelay.protocol.translatable import with_template
from coderelay.protocol.usage_and_cost import Usage, plus
from coderelay.session import prompt_queue, verbatim_agent_messages
from coderelay.session.background_command_events import end_topic
from coderelay.session.history_undo_and_clear import clear, forget_origin_session, note_seen_files, undo
from coderelay.session.settings_change_timing import first_settings, joined, new_values, remaining_pending
from coderelay.session.state import (
    AskState,
    BackgroundCommand,
    Batch,
    CallState,
    OpenTurn,
    PastTurn,
    SessionSettings,
    State,
)


def fold(session: SessionId, log: Iterable[Recorded]) -> State:
    state = State(session)
    for recorded in log:
        apply(state, recorded)
    return state


def apply(state: State, recorded: Recorded) -> None:
    state.head = recorded.seq
    state.epoch = recorded.epoch
    match recorded.event:
        case CallStarted() as event:
            _start_call(state, event, recorded.epoch)
        case CallEnded() as event:
            _end_call(state, event, recorded.at)
        case MessageAdded() as event:
            _add_message(state, event)
        case BatchOpened() as event:
            _open_batch(state, event)
        case CallProposed() as event:
            _propose(state, event)
        case PromptAdmitted() as event:
            prompt_queue.admit(state, event)
        case PromptEdited() as event:
            prompt_queue.edit(state, event)
        case PromptRecalled() as event:
            prompt_queue.recall(state, event.prompt_id)
        case PromptTaken() as event:
            _take(state, event)
        case HistoryCompacted() as event:
            _compact(state, event)
        case HistoryCleared():
            clear(state, recorded.session)
        case TurnStarted() as event:
            _start_turn(state, event, recorded.at)
        case TurnEnded() as event:
            _end_turn(state, event)
        case TreeTaken() as event:
            if state.turn is not None:
                state.turn.tree = event
        case EnvironmentSetUp() as event:
            state.environment = event
        case TurnProlonged() as event:
            if state.turn is not None:
                state.turn.prolonged, state.turn.to_check = event.reason, False
        case TurnUndone() as event:
            undo(state, event)
        case SessionClaimed() as event:
            _claim(state, event)
        case AskAnswered() as event:
            _answer(state, event)
        case AskParked() as event:
            state.asks[event.ask_id].parked = True
        case TurnParked():
            state.last_owner, state.owner = state.owner, None
        case AskOpened() as event:
            _open_ask(state, event)
        case CallAsked() as event:
            _ask_again(state, event)
        case ApprovalGranted() as event:
            state.approvals[event.approval.id] = event.approval
        case ApprovalRevoked() as event:
            state.approvals.pop(event.approval_id, None)
        case BatchResumed():
            if state.batch is not None:
                state.batch.resumed = True
        case StopRequested():
            state.held = True
            _close_asks(state)
            if state.turn is not None:
                state.turn.stop_requested = True
        case BackgroundStopRequested() as event:
            if (command := state.background.get(event.background_id)) is not None:
                command.stop_by = event.by
        case BackgroundEnded() as event:
            if (command := state.background.get(event.background_id)) is not None:
                command.end = event.end
        case SessionCreated() as event:
            state.settings = first_settings(event)
        case SessionConfigured() as event:
            _configure(state, event)
        case SessionMoved() as event:
            _move(state, event)
        case SessionForked():
            forget_origin_session(state)
        case AgentAttached() as event:
            _attach(state, event)
        case MessageKept() as event:
            verbatim_agent_messages.note_contained_events(state, event)
        case SessionDeleted():
            _delete(state)
        case PartialsKept() as event:
            if state.turn is not None:
                state.turn.partials = event
        case ChildOpened() | Unrecognised():
            pass  # the child's id follows from the call's; what a newer version wrote is not guessed


def _take(state: State, event: PromptTaken) -> None:
    state.history.append(event)
    people = prompt_queue.leave(state, event.prompt_id)
    if state.turn is not None:
        state.turn.taken.append(event.typed_text)
        state.turn.people += people


def _start_turn(state: State, event: TurnStarted, at: int) -> None:
    state.turn = OpenTurn(event, started_at=at, people=prompt_queue.leave(state, event.prompt_id))
    if event.task == "prompt":
        state.history.append(event)


def _compact(state: State, event: HistoryCompacted) -> None:
    """Replace the beginning of the history by a summary. What the model was told and has seen went with it, so it
    must be told again, except for the ends of background commands that it knew."""
    for command in state.background.values():
        command.old = command.old or end_topic(command.id) in state.told
    state.history = [event, *state.history[event.dropped :]]
    state.told.clear()
    state.seen.clear()
    state.context_tokens = 0
    _spend(state, event.usage, event.cost)


def _spend(state: State, usage: Usage, cost: float | None) -> None:
    state.cost = plus(state.cost, cost)
    if state.turn is not None:
        state.turn.usage = state.turn.usage.plus(usage)
        state.turn.cost = plus(state.turn.cost, cost)


def _add_message(state: State, event: MessageAdded) -> None:
    state.history.append(event)
    state.told.update({note.topic: note.text for note in event.notes})
    state.context_tokens = event.usage.input_tokens + event.usage.output_tokens or state.context_tokens
    _spend(state, event.usage, event.cost)
    if state.turn is not None:
        _step(state.turn, event)


def _step(turn: OpenTurn, event: MessageAdded) -> None:
    """Count a step of the model. A workflow message with calls proposes a check, and the turn stays to be checked;
    one with words alone ends the checking."""
    if event.author == "model":
        turn.steps += 1
        turn.text = text_of(event.blocks)
        turn.to_check = event.to_check
    elif not event.calls:
        turn.to_check = False


def _open_batch(state: State, event: BatchOpened) -> None:
    message = state.history[-1]
    assert isinstance(message, MessageAdded)
    assert message.message_id == event.batch_id
    asks = [each.ask for each in event.judged if each.ask is not None]
    for call, judged in zip(message.calls, event.judged, strict=True):
        state.calls[call.id] = CallState(call, event.batch_id, judged, author=message.author)
    for ask in asks:
        state.asks[ask.id] = AskState(ask)
    if state.turn is not None:
        state.turn.calls += [call.id for call in message.calls]
        state.turn.planned = state.turn.planned or any(isinstance(ask, PlanAsk) for ask in asks)
    state.batch = Batch(event.batch_id, [call.id for call in message.calls], [ask.id for ask in asks])
    if asks:
        _rest(state)


def _propose(state: State, event: CallProposed) -> None:
    """Add one call to the batch. A call of another batch opens that one; all calls of the previous one have ended."""
    call, ask = event.call, event.judged.ask
    state.history.append(event)
    state.calls[call.id] = CallState(call, event.batch_id, event.judged)
    if state.batch is None or state.batch.id != event.batch_id:
        state.batch = Batch(event.batch_id, [], [])
    state.batch.calls.append(call.id)
    if state.turn is not None:
        state.turn.calls.append(call.id)
        state.turn.planned = state.turn.planned or isinstance(ask, PlanAsk)
    if ask is not None:
        state.asks[ask.id] = AskState(ask)
        state.batch.asks.append(ask.id)
        state.batch.resumed = False


def _claim(state: State, event: SessionClaimed) -> None:
    state.owner, state.last_owner = event.owner, None
    if state.turn is not None:
        state.turn.claims += 1


def _rest(state: State) -> None:
    """Take the owner from the session: nobody owns a session that waits for people, unless its agent holds the
    ask."""
    if not state.is_blocking:
        state.last_owner, state.owner = state.owner, None


def _open_ask(state: State, event: AskOpened) -> None:
    state.asks[event.ask.id] = AskState(event.ask)
    if state.turn is not None:
        state.turn.ask, state.turn.then = event.ask.id, event.then
    if event.then is None:
        _rest(state)
    else:  # the agent has ended its work, so it holds nothing
        state.last_owner, state.owner = state.owner, None


def _ask_again(state: State, event: CallAsked) -> None:
    call = state.calls.get(event.call_id)
    if call is None or state.batch is None:
        return
    call.started_epoch, call.answer = None, None
    call.judged = replace(call.judged, verdict="ask", reason=event.ask.reason, ask=event.ask, said=event.ask.said)
    state.asks[event.ask.id] = AskState(event.ask)
    state.batch.asks.append(event.ask.id)
    state.batch.resumed = False
    _rest(state)


def _answer(state: State, event: AskAnswered) -> None:
    asked = state.asks.get(event.ask_id)
    if asked is not None:
        asked.decision, asked.by = event.decision, event.by
        if isinstance(asked.ask, BudgetAsk) and isinstance(event.decision, Allow):
            state.allowances[asked.ask.allowance] = asked.ask.until
        if isinstance(asked.ask, OfferAsk):
            state.offers[asked.ask.mark] = isinstance(event.decision, Allow)
        if asked.ask.call_id is not None:
            state.calls[asked.ask.call_id].answer = event.decision


def _start_call(state: State, event: CallStarted, epoch: int) -> None:
    call = state.calls.get(event.call_id)
    if call is not None:
        call.started_epoch = epoch


def _end_call(state: State, event: CallEnded, at: int) -> None:
    call = state.calls.get(event.call_id)
    if call is not None:
        call.outcome = event.outcome
    if isinstance(event.outcome, Finished):
        note_seen_files(state, event.outcome)
        if state.turn is not None:
            state.turn.skill = event.outcome.skill or state.turn.skill
        if event.outcome.background is not None:
            command = (call.judged.need.command if call is not None else None) or ""
            left = BackgroundCommand(event.outcome.background, command, state.owner, at)
            state.background[left.id] = left


def _end_turn(state: State, event: TurnEnded) -> None:
    _close_asks(state)
    if state.turn is not None and state.turn.started.task != "compact":
        taken = state.turn.tree or TreeTaken(turn_id=event.turn_id)
        past = PastTurn(
            event.turn_id,
            state.turn.started.typed_text,
            taken.tree,
            event.tree,
            with_template(taken.problem, taken.said),
            taken.waited,
            state.turn.started_at,
            state.turn.started.cwd,
        )
        state.past.append(past)
    state.turn = None
    if state.pending is not None and state.settings is not None:
        _change(state, state.settings, state.pending)
        state.pending = None
    state.batch = None
    state.owner = None
    state.last_ending = event


def _close_asks(state: State) -> None:
    for ask in state.open_asks():
        state.asks[ask.id].closed = True


def _configure(state: State, event: SessionConfigured) -> None:
    if state.settings is None:
        return
    if event.next_turn and state.turn is not None:
        state.pending = joined(state.pending, event)
        return
    state.pending = remaining_pending(state.pending, event)
    _change(state, state.settings, event)


def _change(state: State, settings: SessionSettings, event: SessionConfigured) -> None:
    if event.cwd is not None and event.cwd != settings.cwd:
        _leave_folder(state)
    state.settings = replace(settings, **new_values(event))


def _move(state: State, event: SessionMoved) -> None:
    """Go on with the folder of that path on another machine. The snapshots of files stay on the one that is left."""
    _leave_folder(state)
    state.settings = state.settings and replace(state.settings, machine=event.machine)
    state.past.clear()
    if state.turn is not None:
        state.turn.tree = None


def _attach(state: State, event: AgentAttached) -> None:
    """Note the agent's own session. Another agent may have been chosen while its turn was open."""
    state.attached[event.agent] = event
    if state.settings is not None and state.settings.agent == event.agent:
        state.settings = replace(state.settings, agent_session_id=event.agent_session_id)


def _leave_folder(state: State) -> None:
    """Forget what was approved or set up in the folder: it says nothing about another one."""
    state.approvals.clear()
    state.environment = None


def _delete(state: State) -> None:
    head, epoch = state.head, state.epoch
    blank = State(state.session)
    for name in state.__struct_fields__:
        setattr(state, name, getattr(blank, name))
    state.head, state.epoch, state.deleted = head, epoch, True
