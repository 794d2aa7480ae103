"""What happened. Only these rows are truth; everything else can be rebuilt from them.

A session's life, in order:

    session.created
      prompt.admitted                     any time, by anyone; waits in the queue, where it may be
      prompt.edited  prompt.recalled      changed and from where it may be taken back
      session.claimed  turn.started       one owner at a time, a higher epoch each time
        message.added  batch.opened       the calls of one message, judged together
          ask.answered …  batch.resumed   only if someone had to be asked
          tree.taken                      the files before the first call of a turn that may change some
          call.started  call.ended        per call, in the message's order
        prompt.taken                      a prompt that was sent to steer joins the open turn
        history.compacted                 what came before is now a summary
        message.added                     … until one has no calls
        turn.prolonged                    a hook wants the model to go on behind that one, once
          child.opened                    a call has a session of its own at work
      turn.ended
      turn.undone                         its files, and the conversation with them
      background.stop_requested           any time, of a command that a call.ended left running
      background.ended                    any time, once for each of them
    session.deleted
"""

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from coderelay.protocol.asks import Approval, Ask, By, Decision, PermissionAsk
from coderelay.protocol.background import End
from coderelay.protocol.calls import Call, Need, Outcome
from coderelay.protocol.content import Block, Image, Note, Usage
from coderelay.protocol.ids import AskId, BackgroundId, CallId, MessageId, OwnerId, PromptId, SessionId, TurnId
from coderelay.protocol.modes import MODE_NAMES
from coderelay.protocol.translatable import Translatable, keep_templates

if TYPE_CHECKING:
    from coderelay.protocol.modes import Mode
else:
    Mode = Literal[MODE_NAMES]  # the same; `modes` has no typing
Preset = Literal["strict", "balanced", "auto-edit", "yolo"]
"""What mode `default` means."""

Ending = Literal["done", "failed", "stopped", "step_limit"]
StopReason = Literal["end_turn", "max_tokens", "refusal", "cancelled"]
Think = Literal["auto", "off", "low", "medium", "high"]
Task = Literal["prompt", "compact", "shell"]
Author = Literal["model", "workflow", "person"]


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Base of all that is written to the log."""


class SessionCreated(Event, frozen=True, tag="session.created"):
    """Always the first event. `folders` may be used besides `cwd`, where commands run and what an undo covers.
    A child works for `parent_call` of the session `parent`."""

    cwd: str
    agent: str
    model: str
    mode: Mode
    by: By
    title: str = ""
    allowed_tools: tuple[str, ...] = ()
    agent_session_id: str | None = None
    think: Think = "auto"
    folders: tuple[str, ...] = ()
    parent: SessionId | None = None
    parent_call: CallId | None = None


class SessionConfigured(Event, frozen=True, tag="session.configured"):
    """Settings changed; those left out stay as they were."""

    by: By
    title: str | None = None
    model: str | None = None
    mode: Mode | None = None
    allowed_tools: tuple[str, ...] | None = None
    think: Think | None = None
    folders: tuple[str, ...] | None = None
    agent: str | None = None
    preset: Preset | None = None


class SessionClaimed(Event, frozen=True, tag="session.claimed"):
    """A process took the session to run it. Older epochs can write nothing from here on.

    Ends with the turn, with a batch that waits for people, or with the next claim.
    """

    owner: OwnerId
    epoch: int


class SessionDeleted(Event, frozen=True, tag="session.deleted"):
    """Nothing follows. The store erases all earlier events of the session with this append."""

    by: By


class PromptAdmitted(Event, frozen=True, tag="prompt.admitted"):
    """A prompt is on disk and waits for its turn. Questions of that turn wait `answer_within` seconds for their
    answer, for ever if it is left out. One that is to `steer` joins an open turn at its next step. The task
    `compact` is no prompt for the model: the turn makes a summary of what came before. Neither is `shell`: the turn
    runs `text` as a command of the person's own. `typed` is the command that a person wrote, if `text` is what that
    stands for."""

    prompt_id: PromptId
    text: str
    by: By
    max_steps: int | None = None
    answer_within: int | None = None
    images: tuple[Image, ...] = ()
    steer: bool = False
    task: Task = "prompt"
    typed: str = ""

    @property
    def said(self) -> str:
        """What the person wrote."""
        return f"!{self.text}" if self.task == "shell" else self.typed or self.text


class PromptEdited(Event, frozen=True, tag="prompt.edited"):
    """A prompt that waits has other words now; its place in the queue stays."""

    prompt_id: PromptId
    text: str
    by: By


class PromptRecalled(Event, frozen=True, tag="prompt.recalled"):
    """A prompt was taken back before its turn began. It never will."""

    prompt_id: PromptId
    by: By


class PromptTaken(Event, frozen=True, tag="prompt.taken"):
    """A waiting prompt joins the open turn, between two steps of it. It gets no turn of its own."""

    prompt_id: PromptId
    turn_id: TurnId
    text: str
    typed: str = ""

    @property
    def said(self) -> str:
        """What the person wrote."""
        return self.typed or self.text


class TurnStarted(Event, frozen=True, tag="turn.started"):
    """The oldest waiting prompt begins. Exactly one turn.ended follows. Of the task `shell`, the message with its one
    call follows at once, and that call is started."""

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
    task: Task = "prompt"
    typed: str = ""

    @property
    def said(self) -> str:
        """What the person wrote."""
        return f"!{self.text}" if self.task == "shell" else self.typed or self.text


class MessageAdded(Event, frozen=True, tag="message.added"):
    """A finished message of the model. With calls, its batch is opened in the same append. `notes` are what the
    model was told just before it, `cost` is in US dollars if the price is known. One that is `to_check` proposes
    nothing more, but what the turn has done is to be checked before it ends.

    The workflow is an author too: it begins a list, checks the work; and so is the person, whose one call is a
    command of their own. The model hears of these as a user would tell it.
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


class EnvironmentSetUp(Event, frozen=True, tag="environment.set_up"):
    """What a hook wants the session's commands to have besides, from now on, and what it wants the model to know.
    At most once in a session."""

    turn_id: TurnId
    variables: dict[str, str] = {}
    told: str = ""


class TurnProlonged(Event, frozen=True, tag="turn.prolonged"):
    """The message before has no calls and would have ended the turn, but hooks of the person have something against
    it: the model is told what, and goes on. At most once in a turn."""

    turn_id: TurnId
    reason: str
    said: Translatable | None = None

    def __post_init__(self) -> None:
        keep_templates(self, "reason")


class HistoryCompacted(Event, frozen=True, tag="history.compacted"):
    """The first `dropped` entries of the history are from now on told to the model as `summary`, which is empty if
    there was nothing to sum up. The log keeps them all. All calls before it have their ends."""

    turn_id: TurnId
    summary: str
    dropped: int
    model: str
    usage: Usage = Usage()
    cost: float | None = None


class Judged(Struct, frozen=True, omit_defaults=True):
    """The verdict on one call of a batch. An ask carries the question a person must answer. `said` is the `reason`
    with its template and values."""

    call_id: CallId
    verdict: Literal["allow", "ask", "deny"]
    need: Need
    reason: str = ""
    ask: Ask | None = None
    said: Translatable | None = None

    def __post_init__(self) -> None:
        keep_templates(self, "reason")


class BatchOpened(Event, frozen=True, tag="batch.opened"):
    """All calls of one message, judged before any of them runs. Its id is the message's."""

    batch_id: MessageId
    turn_id: TurnId
    judged: tuple[Judged, ...]


class AskAnswered(Event, frozen=True, tag="ask.answered"):
    """The one answer that counts."""

    ask_id: AskId
    decision: Decision
    by: By


class AskOpened(Event, frozen=True, tag="ask.opened"):
    """Something must be decided that belongs to no call. The turn waits; `then` ends it when that is done, and
    without it the turn goes on."""

    turn_id: TurnId
    ask: Ask
    then: "TurnEnded | None" = None


class ApprovalGranted(Event, frozen=True, tag="approval.granted"):
    """From now on this need not be asked. In the session's own log, or in the log of approvals."""

    approval: Approval
    by: By


class ApprovalRevoked(Event, frozen=True, tag="approval.revoked"):
    approval_id: AskId
    by: By


class BatchResumed(Event, frozen=True, tag="batch.resumed"):
    """Every open ask of the batch is answered. Exactly once for each time it waited."""

    batch_id: MessageId


class CallStarted(Event, frozen=True, tag="call.started"):
    """A tool is about to act. Exactly one call.ended follows.

    Written before the side effect, so a crash can leave it without an end; recovery then
    writes call.ended(unknown) and the call is never repeated.
    """

    batch_id: MessageId
    call_id: CallId


class Waited(Struct, frozen=True):
    """The files when a turn began to wait for people, and when it went on: what differs is theirs."""

    left: str
    found: str


class TreeTaken(Event, frozen=True, tag="tree.taken"):
    """The files as they were before the turn changed any, so that it can be undone; each one takes the place of the
    one before. Without a `tree`, `problem` says why that cannot be. `left_out` are files that an undo will not bring
    back. `left` is how the turn left the files when it began to wait, until it changes some again; `waited` are
    those earlier waits in which somebody changed something. `said` is the `problem` with its template and values."""

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
    """The result, as the model will see it. Denied and stopped calls end without having started."""

    batch_id: MessageId
    call_id: CallId
    outcome: Outcome
    ms: int = 0


class CallAsked(Event, frozen=True, tag="call.asked"):
    """A call that had started found, before it had any effect, that it must ask. Its batch waits again, and
    after the answer the call starts anew."""

    batch_id: MessageId
    call_id: CallId
    ask: PermissionAsk


class ChildOpened(Event, frozen=True, tag="child.opened"):
    """The session that a call opened is there; its log says what becomes of it. Follows call.started."""

    call_id: CallId
    child: SessionId


class StopRequested(Event, frozen=True, tag="stop.requested"):
    """A person wants the open turn to end now; turn.ended(stopped) follows. Asks
    that are still open are closed by it. Prompts that wait in the queue
    stay there until another one is sent."""

    by: By


class TurnEnded(Event, frozen=True, tag="turn.ended"):
    """The turn is over and every call of it has its end. `tree` is the files as it left them, if it may have changed
    any; `said` is the `error` with its template and values."""

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

    def __post_init__(self) -> None:
        keep_templates(self, "error")


class TurnUndone(Event, frozen=True, tag="turn.undone"):
    """The files are as they were before this turn, but for those in `conflicts`, which somebody has changed since;
    and the conversation goes on as if the turn had not been. No turn is open."""

    turn_id: TurnId
    by: By
    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


class BackgroundStopRequested(Event, frozen=True, tag="background.stop_requested"):
    """Somebody wants a background command to end; background.ended follows from the process that has it."""

    background_id: BackgroundId
    by: By


class BackgroundEnded(Event, frozen=True, tag="background.ended"):
    """Exactly one for every command that a call left running. Written by the process that has it, whoever owns the
    session; or by anyone once that process is gone."""

    background_id: BackgroundId
    end: End


class Unrecognised(Struct, frozen=True):
    """An event of a newer version. Kept as it is, skipped by the fold."""

    kind: str
    body: dict[str, Any]


AnyEvent = (
    SessionCreated
    | SessionConfigured
    | SessionClaimed
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
    | BatchOpened
    | AskOpened
    | AskAnswered
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
    """An event where it stands in the log. `at` is milliseconds since 1970, for people only."""

    session: SessionId
    seq: int
    epoch: int
    at: int
    event: AnyEvent
