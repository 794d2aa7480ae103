"""The event types of the session log. The log is the source of truth; everything else can be rebuilt from it. Some
types are declared in `session_events`, `prompt_events` and `external_agent_events`.

The life of a session, in order:

    session.created                       (what a fork copies follows, and then session.forked)
      prompt.admitted                     any time, by anyone; the prompt waits in the queue
      prompt.edited  prompt.recalled      while it waits, it can be changed or removed
      session.claimed  turn.started       one owner at a time, a higher epoch each time
        message.added  batch.opened       the calls of one message, judged together
          ask.answered …  batch.resumed   only if a person had to be asked
          ask.parked                      its deadline is over, and it stays open
          turn.parked                     nobody holds the asks of a blocking turn any longer
          tree.taken                      the files before the first call of a turn that may change some
          call.started  call.ended        per call, in the message's order
        agent.attached                    the agent brings the id of its own session
        message.kept                      what the agent's program emitted, before it is acted upon
        partials.kept                     pieces of a message before it is complete, if the person wants them kept
        call.proposed                     in a blocking turn instead: one call, maybe while others wait or run
        prompt.taken                      a prompt that was sent to steer joins the open turn
        history.compacted                 a summary replaces the earlier history
        message.added                     … until a message has no calls
        turn.prolonged                    a hook makes the model go on after that message, once
          child.opened                    a call has opened a child session
      turn.ended
      turn.undone                         the files and the conversation are restored
      history.cleared                     the next turn begins with an empty history
      background.stop_requested           any time, for a command that a call.ended left running
      background.ended                    any time, once for each such command
      session.moved                       another machine goes on with the session
    session.deleted
"""

from typing import Any, Literal

from msgspec import Struct

from coderelay.protocol.asks import Ask, By, Decision, PermissionAsk, Unanswered
from coderelay.protocol.background_commands import BackgroundEnded, BackgroundStopRequested
from coderelay.protocol.calls import Call, Need, Outcome
from coderelay.protocol.event_base import Event
from coderelay.protocol.external_agent_events import AgentAttached, MessageKept, PartialsKept, TurnParked
from coderelay.protocol.ids import AskId, CallId, MessageId, PromptId, SessionId, TurnId
from coderelay.protocol.message_content import Block, Note
from coderelay.protocol.prompt_events import PromptAdmitted, PromptEdited, PromptRecalled, PromptTaken, Task
from coderelay.protocol.session_events import (
    ApprovalGranted,
    ApprovalRevoked,
    ChildOpened,
    EnvironmentSetUp,
    HistoryCleared,
    SessionClaimed,
    SessionConfigured,
    SessionCreated,
    SessionDeleted,
    SessionForked,
    SessionMoved,
    StopRequested,
)
from coderelay.protocol.session_setting_values import Mode, Persistence
from coderelay.protocol.translatable import Translatable, keep_templates
from coderelay.protocol.usage_and_cost import Usage

Ending = Literal["done", "failed", "stopped", "step_limit"]
StopReason = Literal["end_turn", "max_tokens", "refusal", "cancelled"]
Author = Literal["model", "workflow", "person"]
Verification = Literal["passed", "failed", "inconclusive", "not_run"]
"""How the check of a turn's work ended. `inconclusive`: the machine is to blame, not the work."""


class TurnStarted(Event, frozen=True, tag="turn.started"):
    """The turn of the oldest queued prompt, which was sent `by` somebody, begins. Exactly one turn.ended follows.
    With the task `shell`, the message with its one call follows at once, and that call is started. A `blocking` turn
    keeps its owner while people are asked, because its agent waits for the answer in the middle of its own loop.
    With `verbatim`, its agent hands in its own messages (message.kept), the first one of them included. If `partials`
    are kept `always`, the pieces of its messages are in the log too (partials.kept). `images` counts the prompt's."""

    turn_id: TurnId
    prompt_id: PromptId
    text: str
    agent: str
    model: str
    mode: Mode
    cwd: str
    max_steps: int
    tools: tuple[str, ...] = ()
    answer_within: int | None = None
    unanswered: Unanswered = "deny"
    task: Task = "prompt"
    typed: str = ""
    by: By | None = None
    blocking: bool = False
    verbatim: bool = False
    partials: Persistence = "until_final"
    images: int = 0

    @property
    def typed_text(self) -> str:
        """What the person typed."""
        return f"!{self.text}" if self.task == "shell" else self.typed or self.text


class MessageAdded(Event, frozen=True, tag="message.added"):
    """A complete message of the model. If it has calls, its batch is opened in the same append. `notes` are what the
    model was told just before the message; `cost` is in US dollars, None if the price is not known. A message that is
    `to_check` proposes no calls, but the work of the turn is to be checked before the turn ends.

    The workflow can be the author too, when it starts a todo list or checks the work, and so can the person, whose
    one call is a command of their own. The model gets such messages in the role of the user. `verification` is how
    the check of the work ended, in the message of the workflow that says so. A `verbatim` event, of this or another
    type, is contained in a message that the agent handed in before (message.kept).
    """

    message_id: MessageId
    turn_id: TurnId
    model: str
    blocks: tuple[Block, ...] = ()
    calls: tuple[Call, ...] = ()
    usage: Usage = Usage()
    stop_reason: StopReason = "end_turn"
    notes: tuple[Note, ...] = ()
    cost: float | None = None
    author: Author = "model"
    to_check: bool = False
    verbatim: bool = False
    verification: Verification | None = None


class TurnProlonged(Event, frozen=True, tag="turn.prolonged"):
    """The previous message has no calls and would have ended the turn, but the person's hooks object: the model is
    told the `reason` and goes on. At most once in a turn."""

    turn_id: TurnId
    reason: str
    said: Translatable | None = None

    def __post_init__(self) -> None:
        keep_templates(self, "reason")


class HistoryCompacted(Event, frozen=True, tag="history.compacted"):
    """From now on the model gets `summary` in place of the first `dropped` entries of the history. `summary` is empty
    if there was nothing to summarise. The log keeps all entries. All earlier calls have ended. `tokens_before` and
    `tokens_after` estimate the size of the context; old logs have 0 for both."""

    turn_id: TurnId
    summary: str
    dropped: int
    model: str
    usage: Usage = Usage()
    cost: float | None = None
    tokens_before: int = 0
    tokens_after: int = 0


class Judged(Struct, frozen=True, omit_defaults=True):
    """The verdict on one call of a batch. With the verdict `ask`, `ask` is what a person must decide. `said` is the
    `reason` with its template and values. `granted_by` is an earlier, equal call of the same turn whose answer allows
    this one, because that call never ran."""

    call_id: CallId
    verdict: Literal["allow", "ask", "deny"]
    need: Need
    reason: str = ""
    ask: Ask | None = None
    said: Translatable | None = None
    granted_by: CallId | None = None

    def __post_init__(self) -> None:
        keep_templates(self, "reason")


class BatchOpened(Event, frozen=True, tag="batch.opened"):
    """All calls of one message, judged before any of them runs. The batch id is the message id."""

    batch_id: MessageId
    turn_id: TurnId
    judged: tuple[Judged, ...]


class CallProposed(Event, frozen=True, tag="call.proposed"):
    """A call that the agent of a blocking turn wants to make, or has made without asking. The first call of a batch
    opens the batch; later ones let it grow, and an ask among them makes it wait again. An allowed call is started in
    the same append, a denied one is ended in it. The agent runs its calls itself, in its own order and maybe several
    at the same time, so call.started means that the agent was told to run the call."""

    turn_id: TurnId
    batch_id: MessageId
    call: Call
    judged: Judged
    verbatim: bool = False


class AskAnswered(Event, frozen=True, tag="ask.answered"):
    """The answer to an ask. There is only one."""

    ask_id: AskId
    decision: Decision
    by: By


class AskOpened(Event, frozen=True, tag="ask.opened"):
    """An ask that belongs to no call. The turn waits for the answer. Then the turn ends with `then`, or goes on if
    that is None."""

    turn_id: TurnId
    ask: Ask
    then: "TurnEnded | None" = None


class AskParked(Event, frozen=True, tag="ask.parked"):
    """Nobody answered in time. The ask stays open: an answer counts, whenever it comes. At most once for an ask."""

    ask_id: AskId


class BatchResumed(Event, frozen=True, tag="batch.resumed"):
    """Every open ask of the batch is answered. Written exactly once for each time the batch waited."""

    batch_id: MessageId


class CallStarted(Event, frozen=True, tag="call.started"):
    """A tool is about to act. Exactly one call.ended follows.

    Written before the side effect, so a crash can leave it without an end. Recovery then writes call.ended(unknown),
    and the call is never repeated.
    """

    batch_id: MessageId
    call_id: CallId


class Waited(Struct, frozen=True):
    """The trees when a turn began to wait for people and when it went on. The difference was made by others."""

    left: str
    found: str


class TreeTaken(Event, frozen=True, tag="tree.taken"):
    """The files before the turn changed any, so that it can be undone. A later one in the same turn replaces it.
    Without a `tree`, `problem` says why there is none. `left_out` are files that an undo will not restore. `left` is
    the state in which the turn left the files when it began to wait, until it changes some again; `waited` are those
    earlier waits during which somebody changed files. `said` is the `problem` with its template and values."""

    turn_id: TurnId
    tree: str = ""
    problem: str = ""
    left_out: tuple[str, ...] = ()
    left: str = ""
    waited: tuple[Waited, ...] = ()
    said: Translatable | None = None

    def __post_init__(self) -> None:
        keep_templates(self, "problem")


class CallEnded(Event, frozen=True, tag="call.ended"):
    """The result of a call, as the model will see it. Denied calls, and some stopped ones, end without having
    started."""

    batch_id: MessageId
    call_id: CallId
    outcome: Outcome
    ms: int = 0
    verbatim: bool = False


class CallAsked(Event, frozen=True, tag="call.asked"):
    """A started call found, before it had any effect, that it needs permission. Its batch waits again, and after the
    answer the call starts from the beginning."""

    batch_id: MessageId
    call_id: CallId
    ask: PermissionAsk


class TurnEnded(Event, frozen=True, tag="turn.ended"):
    """The turn is over, and every call of it has ended. `tree` is the state in which it left the files, if it may
    have changed any. `said` is the `error` with its template and values."""

    turn_id: TurnId
    ending: Ending
    stop_reason: StopReason = "end_turn"
    text: str = ""
    error: str | None = None
    usage: Usage = Usage()
    steps: int = 0
    ms: int = 0
    cost: float | None = None
    tree: str = ""
    said: Translatable | None = None
    verbatim: bool = False

    def __post_init__(self) -> None:
        keep_templates(self, "error")


class TurnUndone(Event, frozen=True, tag="turn.undone"):
    """The files are as they were before this turn, except those in `conflicts`, which somebody has changed since. The
    conversation goes on as if the turn had not happened. No turn is open."""

    turn_id: TurnId
    by: By
    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


class Unrecognised(Struct, frozen=True):
    """An event of a newer version. It is kept unchanged, and ignored when the state is computed from the log."""

    kind: str
    body: dict[str, Any]


AnyEvent = (
    SessionCreated
    | SessionConfigured
    | SessionClaimed
    | SessionMoved
    | SessionForked
    | AgentAttached
    | MessageKept
    | PartialsKept
    | SessionDeleted
    | PromptAdmitted
    | PromptEdited
    | PromptRecalled
    | PromptTaken
    | TurnStarted
    | MessageAdded
    | EnvironmentSetUp
    | TurnProlonged
    | HistoryCompacted
    | HistoryCleared
    | BatchOpened
    | CallProposed
    | AskOpened
    | AskAnswered
    | AskParked
    | TurnParked
    | ApprovalGranted
    | ApprovalRevoked
    | BatchResumed
    | TreeTaken
    | CallStarted
    | CallAsked
    | CallEnded
    | ChildOpened
    | StopRequested
    | TurnEnded
    | TurnUndone
    | BackgroundStopRequested
    | BackgroundEnded
    | Unrecognised
)


class Recorded(Struct, frozen=True):
    """An event at its place in the log. `at` is in milliseconds since 1970, and is for people only."""

    session: SessionId
    seq: int
    epoch: int
    at: int
    event: AnyEvent


def judged_in(event: AnyEvent) -> tuple[Judged, ...]:
    """The verdicts that an event records."""
    match event:
        case BatchOpened():
            return event.judged
        case CallProposed():
            return (event.judged,)
        case _:
            return ()


def asks_in(event: AnyEvent) -> tuple[Ask, ...]:
    """The asks that an event opens."""
    match event:
        case AskOpened() | CallAsked():
            return (event.ask,)
        case _:
            return tuple(each.ask for each in judged_in(event) if each.ask is not None)
