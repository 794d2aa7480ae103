"""Commands in, events out: what a command means for a session as it stands.

An empty list means there is nothing to do. Wrong input raises a Refusal and changes nothing.
"""

from coderelay.protocol.asks import By, Decision, DenyAndStop
from coderelay.protocol.commands import (
    AnswerAsk,
    ConfigureSession,
    CreateSession,
    DeleteSession,
    RecallPrompt,
    SendPrompt,
    StopTurn,
)
from coderelay.protocol.errors import BadInput, UnknownAsk, UnknownSession
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    BatchResumed,
    PromptAdmitted,
    PromptRecalled,
    SessionConfigured,
    SessionCreated,
    SessionDeleted,
    StopRequested,
)
from coderelay.session.state import Settings, State


def create(state: State, command: CreateSession) -> list[AnyEvent]:
    if state.head > 0:
        raise BadInput(f"session {command.session} exists already")
    return [
        SessionCreated(
            cwd=command.cwd,
            agent=command.agent,
            model=command.model,
            mode=command.mode,
            by=command.by,
            title=command.title,
            allowed_tools=command.allowed_tools,
            agent_session_id=command.session,
        )
    ]


def configure(state: State, command: ConfigureSession) -> list[AnyEvent]:
    settings = require(state)
    changed = SessionConfigured(
        by=command.by,
        title=None if command.title == settings.title else command.title,
        model=None if command.model == settings.model else command.model,
        mode=None if command.mode == settings.mode else command.mode,
        allowed_tools=None if command.allowed_tools == settings.allowed_tools else command.allowed_tools,
    )
    return [] if changed == SessionConfigured(by=command.by) else [changed]


def send_prompt(state: State, command: SendPrompt) -> list[AnyEvent]:
    require(state)
    if not command.text.strip():
        raise BadInput("the prompt is empty")
    if command.max_steps is not None and command.max_steps < 1:
        raise BadInput(f"a turn takes at least one step, not {command.max_steps}")
    if command.prompt_id in state.prompt_ids:
        return []
    return [
        PromptAdmitted(prompt_id=command.prompt_id, text=command.text, by=command.by, max_steps=command.max_steps)
    ]


def recall_prompt(state: State, command: RecallPrompt) -> list[AnyEvent]:
    require(state)
    if all(each.prompt_id != command.prompt_id for each in state.queue):
        return []
    return [PromptRecalled(prompt_id=command.prompt_id, by=command.by)]


def answer(state: State, command: AnswerAsk) -> list[AnyEvent]:
    """Nothing, if the ask was decided before or its turn stopped: see `state.asks` for by whom."""
    require(state)
    asked = state.asks.get(command.ask)
    if asked is None:
        raise UnknownAsk(command.ask)
    if asked.decision is not None or asked.closed:
        return []
    turn, batch = state.turn, state.batch
    assert turn is not None
    assert batch is not None
    if turn.stop_requested:
        return []
    events: list[AnyEvent] = [AskAnswered(ask_id=command.ask, decision=command.decision, by=command.by)]
    if isinstance(command.decision, DenyAndStop):
        events.append(StopRequested(by=command.by))
    elif len(state.open_asks()) == 1:
        events.append(BatchResumed(batch_id=batch.id))
    return events


def stop(state: State, command: StopTurn) -> list[AnyEvent]:
    require(state)
    running = state.turn is not None and not state.turn.stop_requested
    about_to_run = state.turn is None and bool(state.queue) and not state.held
    return [StopRequested(by=command.by)] if running or about_to_run else []


def delete(state: State, command: DeleteSession) -> list[AnyEvent]:
    return [] if state.deleted or state.head == 0 else [SessionDeleted(by=command.by)]


def require(state: State) -> Settings:
    """The settings of a session that is there."""
    if state.settings is None:
        raise UnknownSession(state.session)
    return state.settings


def recorded_answer(state: State, command: AnswerAsk) -> tuple[Decision | None, By | None]:
    asked = state.asks[command.ask]
    return asked.decision, asked.by
