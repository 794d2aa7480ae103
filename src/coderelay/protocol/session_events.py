"""The events of a session: its settings, its owner, its children and background commands, approvals and stops.
`events` has the others and their order."""

from msgspec import field

from coderelay.protocol.asks import Approval, By
from coderelay.protocol.event_base import Event
from coderelay.protocol.ids import AskId, CallId, MachineIdentity, OwnerId, SessionId, TurnId
from coderelay.protocol.session_setting_values import Mode, Preset, Profile, Think


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
    only be left. With an `agent` comes the id of that agent's own session, empty if it has none yet; in old logs it
    is None, and the id stays as it was."""

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
    agent_session_id: str | None = None


class SessionMoved(Event, frozen=True, tag="session.moved"):
    """The session belongs to another machine from now on. Earlier turns cannot be undone any more, because the
    snapshots of their files stay on the machine where they were taken. The folder of that path is another one there,
    so the session's approvals and the environment that hooks have set up are dropped. No living process owns the
    session."""

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


class EnvironmentSetUp(Event, frozen=True, tag="environment.set_up"):
    """A hook has set environment `variables` for the session's commands from now on; `told` is what it wants the
    model to know. At most once in a session, as long as it stays in its folder and on its machine."""

    turn_id: TurnId
    variables: dict[str, str] = field(default_factory=dict[str, str])
    told: str = ""


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
