"""The events of a session, of the prompts sent to it, of background commands, and of what people allow and stop.
`events` has the others and their order."""

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from coderelay.protocol.asks import Approval, By, Unanswered
from coderelay.protocol.background_command_end import End
from coderelay.protocol.content import Image
from coderelay.protocol.ids import AskId, BackgroundId, CallId, MessageId, OwnerId, PromptId, SessionId, TurnId
from coderelay.protocol.machine_identity import MachineIdentity
from coderelay.protocol.modes import MODE_NAMES

if TYPE_CHECKING:
    from coderelay.protocol.modes import Mode
else:
    Mode = Literal[MODE_NAMES]  # the same type; `modes` does not import typing at run time
Preset = Literal["strict", "balanced", "auto-edit", "yolo"]
"""What mode `default` allows."""

Think = Literal["auto", "off", "low", "medium", "high"]
Task = Literal["prompt", "compact", "shell"]
When = Literal["now", "next_turn"]
Persistence = Literal["until_final", "always"]
Profile = Literal["", "cowork"]
"""How a session differs from what its mode says. In `cowork`, what the policy would ask about is allowed."""


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Base of all events."""


class SessionCreated(Event, frozen=True, tag="session.created"):
    """Always the first event. `cwd` is where commands run and what an undo covers; `folders` may be used besides it.
    A child session works for the call `parent_call` of the session `parent`. Only the `machine` with the session's
    folder may claim it; in old logs there is none, and any machine may. `instructions` are told to the model besides
    its own."""

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
    machine: MachineIdentity | None = None
    instructions: str = ""
    profile: Profile = ""


class SessionConfigured(Event, frozen=True, tag="session.configured"):
    """Settings changed; fields that are None stay as they were. With `next_turn`, they wait while a turn is open and
    change when it ends; a later change of the same setting replaces what waits. Another folder (`cwd`) drops what
    belonged to the one before: the session's approvals and the environment that hooks have set up. A `profile` can
    only be left."""

    by: By
    title: str | None = None
    model: str | None = None
    mode: Mode | None = None
    allowed_tools: tuple[str, ...] | None = None
    think: Think | None = None
    folders: tuple[str, ...] | None = None
    agent: str | None = None
    preset: Preset | None = None
    cwd: str | None = None
    next_turn: bool = False
    instructions: str | None = None
    profile: Profile | None = None


class SessionMoved(Event, frozen=True, tag="session.moved"):
    """The session belongs to another machine from now on. Earlier turns cannot be undone any more, because the
    snapshots of their files stay on the machine where they were taken. No living process owns the session."""

    machine: MachineIdentity
    by: By


class SessionForked(Event, frozen=True, tag="session.forked"):
    """The events before this one were copied from the log of the session `of`, up to its event `at`, in the same
    append. What they cost is not counted again, and their turns cannot be undone here, because their snapshots,
    background commands and child sessions belong to the other session. At most once, before the first own prompt."""

    of: SessionId
    at: int
    by: By


class SessionClaimed(Event, frozen=True, tag="session.claimed"):
    """A process took the session to run it. From here on, owners with an older epoch cannot write.

    The claim ends with the turn, with a batch that waits for people, or with the next claim.
    """

    owner: OwnerId
    epoch: int


class TurnParked(Event, frozen=True, tag="turn.parked"):
    """The owner of a blocking turn has ended its agent and left, because nobody answered in time. Its asks stay open.
    Nobody owns the session until they are answered; then another claim carries the turn on."""

    turn_id: TurnId


class EnvironmentSetUp(Event, frozen=True, tag="environment.set_up"):
    """A hook has set environment `variables` for the session's commands from now on; `told` is what it wants the
    model to know. At most once in a session."""

    turn_id: TurnId
    variables: dict[str, str] = {}
    told: str = ""


class AgentAttached(Event, frozen=True, tag="agent.attached"):
    """The agent of the open turn has a session of its own, and this is its id: from now on the agent continues there.
    It comes late, with the first turn or never, and may change. `model` and `tools` are what the agent says that it
    uses."""

    turn_id: TurnId
    agent: str
    agent_session_id: str
    model: str = ""
    tools: tuple[str, ...] = ()


class MessageKept(Event, frozen=True, tag="message.kept"):
    """A message exactly as the program of the agent emitted it: `data` is its JSON text. It is written before the
    message is acted upon; `calls`, `results` and `is_last` say which later events of the turn stand in it, so that
    nobody is shown them twice: the calls it proposes, the results it brings, the end of the turn. With the form
    `cowork` it is a message of the messages projection. `message_id` is the message's own, if it has one; a message
    is kept once in a turn. If it was too large, `left_out` is its size in bytes, and `data` is an outline of it."""

    turn_id: TurnId
    message_id: MessageId
    data: str
    form: str = "cowork"
    calls: tuple[CallId, ...] = ()
    results: tuple[CallId, ...] = ()
    is_last: bool = False
    left_out: int = 0


class PartialBlock(Struct, frozen=True, omit_defaults=True):
    """Pieces of one block of a message, as they were emitted. The block may have begun before them (unless it
    `starts` here) and may go on after them (unless it `stops` here)."""

    index: int
    type: Literal["text", "thinking"]
    pieces: tuple[str, ...] = ()
    starts: bool = False
    stops: bool = False


class PartialsKept(Event, frozen=True, tag="partials.kept"):
    """Pieces of a message that is being written, for those who show messages as they grow; only in turns that keep
    them `always`. Whatever was emitted before an event of the turn is in the log before it. Neither the state nor the
    model's history depends on them. The message may never be completed."""

    turn_id: TurnId
    message_id: MessageId
    blocks: tuple[PartialBlock, ...]


class ChildOpened(Event, frozen=True, tag="child.opened"):
    """A call opened a child session, whose own log records its progress. Follows call.started."""

    call_id: CallId
    child: SessionId


class SessionDeleted(Event, frozen=True, tag="session.deleted"):
    """The last event. With this append, the store erases all earlier events of the session."""

    by: By


class HistoryCleared(Event, frozen=True, tag="history.cleared"):
    """The model's history begins anew with the next turn; written between turns. The log keeps everything, the turns
    before can still be undone, and queued prompts stay queued."""

    by: By


class PromptAdmitted(Event, frozen=True, tag="prompt.admitted"):
    """A prompt is on disk and waits for its turn. Questions of that turn wait `answer_within` seconds for an answer,
    for ever if it is None; `unanswered` says what happens then. With `steer`, the prompt joins an open turn at its
    next step. With the task `compact` the model gets no prompt: the turn summarises the earlier history. With the
    task `shell` it gets none either: the turn runs `text` as the person's own command. `typed` is what the
    person typed, if `text` has more: the expansion of a slash command, or input that was piped in."""

    prompt_id: PromptId
    text: str
    by: By
    max_steps: int | None = None
    answer_within: int | None = None
    unanswered: Unanswered = "deny"
    images: tuple[Image, ...] = ()
    steer: bool = False
    task: Task = "prompt"
    typed: str = ""

    @property
    def said(self) -> str:
        """What the person typed."""
        return f"!{self.text}" if self.task == "shell" else self.typed or self.text


class PromptEdited(Event, frozen=True, tag="prompt.edited"):
    """The text of a queued prompt was replaced; its place in the queue stays."""

    prompt_id: PromptId
    text: str
    by: By


class PromptRecalled(Event, frozen=True, tag="prompt.recalled"):
    """A prompt was removed from the queue before its turn began. It will never get a turn."""

    prompt_id: PromptId
    by: By


class PromptTaken(Event, frozen=True, tag="prompt.taken"):
    """A queued prompt joins the open turn, between two steps. It gets no turn of its own. `images` counts its own."""

    prompt_id: PromptId
    turn_id: TurnId
    text: str
    typed: str = ""
    images: int = 0

    @property
    def said(self) -> str:
        """What the person typed."""
        return self.typed or self.text


class ApprovalGranted(Event, frozen=True, tag="approval.granted"):
    """From now on this action is not asked about. Written to the session's own log, or to the log of approvals if it
    counts beyond the session."""

    approval: Approval
    by: By


class ApprovalRevoked(Event, frozen=True, tag="approval.revoked"):
    approval_id: AskId
    by: By


class StopRequested(Event, frozen=True, tag="stop.requested"):
    """A person wants the open turn to end now; turn.ended(stopped) follows. It closes asks that are still open.
    Queued prompts stay in the queue until another prompt is sent."""

    by: By


class BackgroundStopRequested(Event, frozen=True, tag="background.stop_requested"):
    """Somebody wants a background command to end. The process that holds the command then writes background.ended."""

    background_id: BackgroundId
    by: By


class BackgroundEnded(Event, frozen=True, tag="background.ended"):
    """Exactly one for every command that a call left running. It is written by the process that holds the command,
    even if another one owns the session, or by any process once that process has ended."""

    background_id: BackgroundId
    end: End
