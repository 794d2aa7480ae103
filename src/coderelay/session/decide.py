"""Turns commands into events: what a command means for a session in its current state.

An empty list means there is nothing to do. Wrong input raises a Refusal and changes nothing.
"""

from collections.abc import Sequence

from coderelay.protocol.asks import (
    Allow,
    Answers,
    Ask,
    BudgetAsk,
    By,
    Decision,
    Deny,
    DenyAndStop,
    EditMode,
    OfferAsk,
    PermissionAsk,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.commands import (
    AnswerAsk,
    ClearHistory,
    CompactHistory,
    CreateSession,
    DeleteSession,
    EditPrompt,
    MoveSession,
    RecallPrompt,
    RevokeApproval,
    RunShell,
    SendPrompt,
    StopTurn,
)
from coderelay.protocol.errors import BadInput, UnknownApproval, UnknownAsk, UnknownSession
from coderelay.protocol.events import (
    AnyEvent,
    ApprovalRevoked,
    AskAnswered,
    AskParked,
    BatchResumed,
    HistoryCleared,
    PromptAdmitted,
    PromptEdited,
    PromptRecalled,
    SessionConfigured,
    SessionCreated,
    SessionDeleted,
    SessionMoved,
    StopRequested,
    TurnStarted,
    TurnUndone,
)
from coderelay.protocol.ids import APPROVALS, AskId, MachineIdentity, PromptId, derived_id
from coderelay.protocol.translatable import join_texts, say
from coderelay.session.state import PastTurn, SessionSettings, State

IMAGE_BASE64 = 5 * 1024 * 1024  # the most that providers accept
COMPACT = "/compact"
NO_SHELL = "! commands work only in a terminal on this machine"
NO_RESUME_ID = "Session has no resume id yet."
CARRY_OUT_THE_PLAN = "The plan is approved. Carry it out now."


def create(
    state: State, command: CreateSession, machine: MachineIdentity | None = None, *, has_own_session_ids: bool = False
) -> list[AnyEvent]:
    """`has_own_session_ids`: the agent has sessions of its own, and says later which one belongs to this one."""
    if state.head > 0 or command.session == APPROVALS:
        raise BadInput(say("session {session} already exists", session=command.session))
    return [
        SessionCreated(
            cwd=command.cwd,
            agent=command.agent,
            model=command.model,
            mode=command.mode,
            by=command.by,
            title=command.title,
            allowed_tools=command.allowed_tools,
            agent_session_id=None if has_own_session_ids else command.session,
            think=command.think,
            folders=command.folders,
            parent=command.parent,
            parent_call=command.parent_call,
            machine=machine,
            instructions=command.instructions,
            profile=command.profile,
        )
    ]


def move(state: State, command: MoveSession, machine: MachineIdentity) -> list[AnyEvent]:
    settings = require(state)
    is_there = settings.machine is not None and settings.machine.id == machine.id
    return [] if is_there else [SessionMoved(machine=machine, by=command.by)]


def send_prompt(state: State, command: SendPrompt, *, has_own_session_ids: bool = False) -> list[AnyEvent]:
    """`has_own_session_ids`: the agent continues in a session of its own. If its first turn failed before it had one,
    nothing can be continued; if it had no turn yet, nothing need be."""
    settings = require(state)
    if not command.text.strip() and not command.images:
        raise BadInput("the prompt is empty")
    if any(len(image.data) > IMAGE_BASE64 for image in command.images):
        raise BadInput(say("an image is too large: {count} bytes at most can be sent", count=IMAGE_BASE64 * 3 // 4))
    if command.max_steps is not None and command.max_steps < 1:
        raise BadInput(say("a turn needs at least one step, not {number}", number=command.max_steps))
    if command.answer_within is not None and command.answer_within < 1:
        raise BadInput(
            say(
                "the time limit for an answer must be at least one second, not {seconds}",
                seconds=command.answer_within,
            )
        )
    if command.prompt_id in state.prompt_ids:
        return []
    if has_own_session_ids and settings.agent_session_id is None and state.turn is None and _has_worked(state):
        raise BadInput(NO_RESUME_ID)
    return [
        PromptAdmitted(
            prompt_id=command.prompt_id,
            text=command.text,
            by=command.by,
            max_steps=command.max_steps,
            answer_within=command.answer_within,
            unanswered=command.unanswered,
            images=command.images,
            steer=command.steer,
            typed=command.typed,
        )
    ]


def _has_worked(state: State) -> bool:
    """Whether the session's agent has worked on its history. Another one may have done so before."""
    agent = require(state).agent
    return any(isinstance(each, TurnStarted) and each.agent == agent for each in state.history)


def run_shell(state: State, command: RunShell) -> list[AnyEvent]:
    require(state)
    if not command.command.strip():
        raise BadInput("the command is empty")
    if command.prompt_id in state.prompt_ids:
        return []
    return [PromptAdmitted(prompt_id=command.prompt_id, text=command.command, by=command.by, task="shell")]


def compact(state: State, command: CompactHistory) -> list[AnyEvent]:
    require(state)
    if command.prompt_id in state.prompt_ids:
        return []
    return [PromptAdmitted(prompt_id=command.prompt_id, text=COMPACT, by=command.by, task="compact")]


def clear(state: State, command: ClearHistory) -> list[AnyEvent]:
    require(state)
    if state.turn is not None:
        raise BadInput("a turn is running; stop it before clearing the context")
    return [HistoryCleared(by=command.by)] if state.history else []


def edit_prompt(state: State, command: EditPrompt, *, may_run_shell: bool = False) -> list[AnyEvent]:
    require(state)
    if not command.text.strip():
        raise BadInput("the prompt is empty", "To remove a prompt from the queue, use /queue drop.")
    waiting = next((each for each in state.queue if each.prompt_id == command.prompt_id), None)
    if waiting is None or waiting.task == "compact" or waiting.text == command.text:
        return []
    if waiting.task == "shell" and not may_run_shell:
        raise BadInput(NO_SHELL)
    return [PromptEdited(prompt_id=command.prompt_id, text=command.text, by=command.by)]


def recall_prompt(state: State, command: RecallPrompt) -> list[AnyEvent]:
    require(state)
    if all(each.prompt_id != command.prompt_id for each in state.queue):
        return []
    return [PromptRecalled(prompt_id=command.prompt_id, by=command.by)]


def answer(state: State, command: AnswerAsk) -> list[AnyEvent]:
    """No event if the ask was decided before or its turn stopped; `state.asks` says by whom."""
    require(state)
    asked = state.asks.get(command.ask)
    if asked is None:
        raise UnknownAsk(command.ask)
    if asked.decision is not None or asked.closed:
        return []
    turn, batch = state.turn, state.batch
    assert turn is not None
    if turn.stop_requested:
        return []
    check_fit(asked.ask, command.decision)
    answered = AskAnswered(ask_id=command.ask, decision=command.decision, by=command.by)
    if isinstance(command.decision, DenyAndStop):
        return [answered, StopRequested(by=command.by)]
    changed = _changed_mode(command.decision, command.by)
    if isinstance(asked.ask, BudgetAsk):
        return [answered] if isinstance(command.decision, Allow) else [answered, StopRequested(by=command.by)]
    if isinstance(asked.ask, OfferAsk):
        return [answered, *_used_folder(asked.ask, command, require(state))]
    if turn.ask == command.ask:
        assert turn.then is not None
        return [answered, *changed, turn.then, *_next_prompt(command, turn.started)]
    resumed = [BatchResumed(batch_id=batch.id)] if batch is not None and len(state.open_asks()) == 1 else []
    return [answered, *changed, *resumed]


def answer_for_more(
    state: State, command: AnswerAsk, kept: Sequence[AnyEvent], covered: Sequence[AskId]
) -> list[AnyEvent]:
    """An answer that counts for more than one call: with what is `kept` of it, and with the answers to those asks
    that it covers. They are one append, so that nobody is asked what was answered a moment before."""
    events = answer(state, command)
    if not events:
        return []
    others = [each.id for each in state.open_asks() if each.id in covered and each.id != command.ask]
    answers = [AskAnswered(ask_id=each, decision=Allow(), by=command.by) for each in others]
    resumes = state.batch is not None and len(state.open_asks()) == 1 + len(answers)
    resumed = [BatchResumed(batch_id=state.batch.id)] if resumes and state.batch is not None else []
    return [*(each for each in events if not isinstance(each, BatchResumed)), *kept, *answers, *resumed]


def park(state: State, ask_id: AskId, now: int) -> list[AnyEvent]:
    """The ask stays open beyond its deadline. No event if it was decided or parked meanwhile."""
    return [AskParked(ask_id=ask_id)] if any(each.id == ask_id for each in state.due_asks(now)) else []


def check_fit(ask: Ask, decision: Decision) -> None:
    """Raises BadInput if the decision does not fit what was asked; the ask then stays open."""
    if isinstance(decision, Deny | DenyAndStop):
        return
    if not isinstance(decision, ask.answered_by):
        raise BadInput(ask.wrong_answer_message)
    if isinstance(decision, Allow) and decision.mode not in (None, _mode_offered(ask)):
        raise BadInput("this question does not offer to switch the mode: allow or deny the call")
    if isinstance(ask, QuestionAsk) and isinstance(decision, Answers):
        _check_answers(ask, decision)
    if isinstance(decision, PlanDecision) and decision.option == "feedback" and not decision.feedback.strip():
        raise BadInput("feedback on a plan needs a text")


def _mode_offered(ask: Ask) -> EditMode | None:
    return ask.mode if isinstance(ask, PermissionAsk) else None


def _check_answers(ask: QuestionAsk, given: Answers) -> None:
    asked = [each.question for each in ask.questions]
    for question in given.answers:
        if question not in asked:
            raise BadInput(
                say(
                    "there is no question {question}; the questions are {names}",
                    question=repr(question),
                    names=", ".join(map(repr, asked)),
                )
            )
    for question in asked:
        if not given.answers.get(question, "").strip():
            raise BadInput(say("the question {question} has no answer", question=repr(question)))


def _changed_mode(decision: Decision, by: By) -> list[AnyEvent]:
    if isinstance(decision, PlanDecision | Allow) and decision.mode is not None:
        return [SessionConfigured(by=by, mode=decision.mode)]
    return []


def _used_folder(ask: OfferAsk, command: AnswerAsk, settings: SessionSettings) -> list[AnyEvent]:
    """The folder of an offer that was accepted becomes one of the session's."""
    if ask.what != "folder" or not isinstance(command.decision, Allow):
        return []
    return [SessionConfigured(by=command.by, folders=(*settings.folders, ask.name))]


def _next_prompt(command: AnswerAsk, planned: TurnStarted) -> list[AnyEvent]:
    """The prompt that follows the decision on a plan whose turn is over: to carry it out, or what to change in it.
    Its questions wait as long as those of the turn that made the plan."""
    decision = command.decision
    if not isinstance(decision, PlanDecision) or decision.option == "keep":
        return []
    text = decision.feedback if decision.option == "feedback" else CARRY_OUT_THE_PLAN
    return [
        PromptAdmitted(
            prompt_id=PromptId(derived_id(command.ask, "plan")),
            text=text,
            by=command.by,
            answer_within=planned.answer_within,
            unanswered=planned.unanswered,
        )
    ]


def revoke(state: State, command: RevokeApproval) -> list[AnyEvent]:
    approval = state.approvals.get(command.approval)
    if approval is None:
        raise UnknownApproval(command.approval)
    if approval.scope == "person" and approval.person not in ("", command.by.who):
        raise BadInput(say("only {person} can revoke this approval", person=approval.person))
    return [ApprovalRevoked(approval_id=command.approval, by=command.by)]


def stop(state: State, command: StopTurn) -> list[AnyEvent]:
    require(state)
    running = state.turn is not None and not state.turn.stop_requested
    about_to_run = state.turn is None and bool(state.queue) and not state.held
    return [StopRequested(by=command.by)] if running or about_to_run else []


def undoable(state: State) -> PastTurn:
    """The turn that an undo would undo. Raises BadInput if there is none, or if this is not the time."""
    require(state)
    if state.turn is not None or (state.queue and not state.held):
        raise BadInput("a turn is running; stop it before undoing one")
    if not state.past:
        raise BadInput("nothing to undo")
    return state.past[-1]


def undone(state: State, event: TurnUndone) -> list[AnyEvent]:
    """The undo; no event if the session has changed since it was looked at."""
    past = state.past[-1].turn_id if state.past else None
    return [event] if state.turn is None and past == event.turn_id else []


def why_not_undone(state: State, undone: TurnUndone) -> str:
    """Why an undo was not recorded after all: somebody else was faster."""
    if all(past.turn_id != undone.turn_id for past in state.past):
        return "somebody else has undone the last turn just now"
    began = "another turn began meanwhile, so the conversation stays as it is"
    done = [say("restored {path}", path=path) for path in undone.restored]
    done += [say("removed {path}", path=path) for path in undone.removed]
    if not done:
        return began
    return say("the files are as before ({problem}), but {rest}", problem=join_texts(", ", done), rest=began)


def delete(state: State, command: DeleteSession) -> list[AnyEvent]:
    """No event if the session does not exist. The log of approvals is not a session: it stays."""
    return [] if state.settings is None else [SessionDeleted(by=command.by)]


def require(state: State) -> SessionSettings:
    """The settings of a session. Raises UnknownSession if it does not exist."""
    if state.settings is None:
        raise UnknownSession(state.session)
    return state.settings


def recorded_answer(state: State, command: AnswerAsk) -> tuple[Decision | None, By | None]:
    asked = state.asks[command.ask]
    return asked.decision, asked.by
