"""The state of a session at one point of its log. `fold` builds it; everything else only reads it."""

import msgspec
from msgspec import Struct, field

from coderelay.protocol.asks import Approval, Ask, By, Decision
from coderelay.protocol.background_commands import End
from coderelay.protocol.calls import Call, Finished, Outcome
from coderelay.protocol.events import (
    AgentAttached,
    Author,
    CallProposed,
    EnvironmentSetUp,
    HistoryCompacted,
    Judged,
    MessageAdded,
    PartialsKept,
    PromptAdmitted,
    PromptTaken,
    TreeTaken,
    TurnEnded,
    TurnStarted,
    Waited,
)
from coderelay.protocol.ids import (
    AskId,
    BackgroundId,
    CallId,
    MachineIdentity,
    MessageId,
    OwnerId,
    PromptId,
    SessionId,
    TurnId,
)
from coderelay.protocol.message_content import Image
from coderelay.protocol.projected_rows import Phase
from coderelay.protocol.query_results import TODO, Item, TodoArguments
from coderelay.protocol.session_events import SessionConfigured
from coderelay.protocol.session_setting_values import Mode, Preset, Profile, Think
from coderelay.protocol.usage_and_cost import Usage


class SessionSettings(Struct, frozen=True):
    """`person` created the session; `machine` has its folder, None if any machine may have it. `instructions` are
    told to the model besides its own."""

    cwd: str
    agent: str
    model: str
    mode: Mode
    title: str = ""
    allowed_tools: tuple[str, ...] = ()
    agent_session_id: str | None = None
    think: Think = "auto"
    folders: tuple[str, ...] = ()
    preset: Preset | None = None
    parent: SessionId | None = None
    parent_call: CallId | None = None
    person: str = ""
    machine: MachineIdentity | None = None
    instructions: str = ""
    profile: Profile = ""

    @property
    def enforced_tools(self) -> tuple[str, ...]:
        """The tools that calls are restricted to; empty if to none. The profile `cowork` only keeps the list that a
        client sent. The list of a child comes from the file of its subagent, and counts."""
        return () if self.profile == "cowork" and self.parent is None else self.allowed_tools


class CallState(Struct):
    """One call and how far it got. `forgotten`: its turn was undone, or the history was cleared after it."""

    call: Call
    batch_id: MessageId
    judged: Judged
    answer: Decision | None = None
    started_epoch: int | None = None
    outcome: Outcome | None = None
    author: Author = "model"
    forgotten: bool = False


class AskState(Struct):
    """An ask and the decision on it. `closed`: a stop or the end of the turn closed it. `parked`: its
    deadline is over, and it stays open."""

    ask: Ask
    decision: Decision | None = None
    by: By | None = None
    closed: bool = False
    parked: bool = False


class Batch(Struct):
    """The open batch. `resumed`: all its asks are answered, so it goes on. In a blocking turn it may grow, and wait
    again."""

    id: MessageId
    calls: list[CallId]
    asks: list[AskId]
    resumed: bool = False


class PastTurn(Struct, frozen=True):
    """A finished turn: the snapshots of the files before and after it if it may have changed some, or why they are
    not known. `at` is when it began, `cwd` the folder it worked in."""

    turn_id: TurnId
    prompt: str
    before: str = ""
    after: str = ""
    problem: str = ""
    waited: tuple[Waited, ...] = ()
    at: int = 0
    cwd: str = ""


class BackgroundCommand(Struct):
    """A command that a call left running, and the process that runs it. `old`: the model already knew of its end when
    the history was last compacted, so it need not be told again."""

    id: BackgroundId
    command: str
    owner: OwnerId | None
    started_at: int
    stop_by: By | None = None
    end: End | None = None
    old: bool = False


class KeptMessages(Struct):
    """The ids of the messages that the agent of the open turn has handed in, and of the calls and results that they
    contain."""

    ids: set[MessageId] = field(default_factory=set[MessageId])
    calls: set[CallId] = field(default_factory=set[CallId])
    results: set[CallId] = field(default_factory=set[CallId])
    has_last: bool = False


class OpenTurn(Struct):
    """The turn that is running or waiting. `skill` is the one that the agent last loaded by its own choice. `taken`
    are the prompts that joined the turn. `to_check`: the model proposes nothing more, and the work is checked.
    `prolonged`: why hooks kept the turn open. `people` wrote its prompt and those that joined it. `claims` counts the
    claims that carried the turn on. `partials` are the last pieces in the log: whoever carries the turn on closes the
    block that they left open."""

    started: TurnStarted
    started_at: int
    steps: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    text: str = ""
    stop_requested: bool = False
    planned: bool = False
    prolonged: str = ""
    skill: str = ""
    tree: TreeTaken | None = None
    ask: AskId | None = None
    then: TurnEnded | None = None
    partials: PartialsKept | None = None
    calls: list[CallId] = field(default_factory=list[CallId])
    taken: list[str] = field(default_factory=list[str])
    people: list[str] = field(default_factory=list[str])
    to_check: bool = False
    claims: int = 0
    kept: KeptMessages | None = None


Entry = TurnStarted | PromptTaken | MessageAdded | CallProposed | HistoryCompacted
"""The kinds of events that the model's history is made of."""


def calls_of(entry: Entry) -> tuple[Call, ...]:
    """The calls that an entry of the history proposes."""
    match entry:
        case MessageAdded():
            return entry.calls
        case CallProposed():
            return (entry.call,)
        case _:
            return ()


class State(Struct):
    """`last_owner` owned the session before it began to wait for people, and nobody has claimed it since. `held`: a
    stop came after the last prompt, so nothing starts until another prompt is sent. `earlier_authors` wrote prompts
    of the queue that somebody else has edited since. `told` is what the model was told, by topic; `seen` maps the
    files it knows to their marks. `allowances` are the amounts that budgets were raised to, by
    `BudgetAsk.allowance`; `offers` says by `OfferAsk.mark` whether an offer was accepted. `pending` are settings that
    change when the open turn ends. `attached` is what each agent told last of a session of its own. `past` are the
    turns that can be undone, the latest last."""

    session: SessionId
    head: int = 0
    epoch: int = 0
    owner: OwnerId | None = None
    deleted: bool = False
    settings: SessionSettings | None = None
    pending: SessionConfigured | None = None
    attached: dict[str, AgentAttached] = field(default_factory=dict[str, AgentAttached])
    queue: list[PromptAdmitted] = field(default_factory=list[PromptAdmitted])
    earlier_authors: dict[PromptId, list[str]] = field(default_factory=dict[PromptId, list[str]])
    held: bool = False
    prompt_ids: set[PromptId] = field(default_factory=set[PromptId])
    turn: OpenTurn | None = None
    last_ending: TurnEnded | None = None
    past: list[PastTurn] = field(default_factory=list[PastTurn])
    history: list[Entry] = field(default_factory=list[Entry])
    told: dict[str, str] = field(default_factory=dict[str, str])
    seen: dict[str, str] = field(default_factory=dict[str, str])
    images: dict[PromptId, tuple[Image, ...]] = field(default_factory=dict[PromptId, tuple[Image, ...]])
    context_tokens: int = 0
    cost: float | None = None
    allowances: dict[str, float] = field(default_factory=dict[str, float])
    offers: dict[str, bool] = field(default_factory=dict[str, bool])
    batch: Batch | None = None
    calls: dict[CallId, CallState] = field(default_factory=dict[CallId, CallState])
    asks: dict[AskId, AskState] = field(default_factory=dict[AskId, AskState])
    approvals: dict[AskId, Approval] = field(default_factory=dict[AskId, Approval])
    last_owner: OwnerId | None = None
    environment: EnvironmentSetUp | None = None
    background: dict[BackgroundId, BackgroundCommand] = field(default_factory=dict[BackgroundId, BackgroundCommand])

    @property
    def people(self) -> tuple[str, ...]:
        """For whom the session works: whoever wrote the prompts of its open turn, otherwise whoever created it."""
        if self.turn is not None and self.turn.people:
            return tuple(dict.fromkeys(self.turn.people))
        return () if self.settings is None else (self.settings.person,)

    def open_asks(self) -> list[Ask]:
        ids = list(self.batch.asks) if self.batch is not None else []
        if self.turn is not None and self.turn.ask is not None:
            ids.append(self.turn.ask)
        asks = [self.asks[ask_id] for ask_id in ids]
        return [each.ask for each in asks if each.decision is None and not each.closed]

    def due_asks(self, now: int) -> list[Ask]:
        """The open asks whose deadline is over and has not been acted upon."""
        waiting = [each for each in self.open_asks() if not self.asks[each.id].parked]
        return [each for each in waiting if each.deadline is not None and each.deadline <= now]

    def open_calls(self) -> list[CallState]:
        """The calls of the open batch that have no end yet, in the message's order."""
        if self.batch is None:
            return []
        calls = [self.calls[call_id] for call_id in self.batch.calls]
        return [each for each in calls if each.outcome is None]

    @property
    def is_blocking(self) -> bool:
        """Whether the open turn keeps its owner while people are asked."""
        return self.turn is not None and self.turn.started.blocking

    @property
    def phase(self) -> Phase:
        if self.deleted:
            return "deleted"
        if self.turn is not None:
            return "waiting" if self.open_asks() else "running"
        if self.last_ending is None:
            return "idle"
        return _PHASE_AFTER[self.last_ending.ending]


_PHASE_AFTER: dict[str, Phase] = {
    "done": "done",
    "failed": "failed",
    "step_limit": "failed",
    "stopped": "stopped",
}


def todos(state: State) -> tuple[Item, ...]:
    last = last_list(state)
    return () if last is None else items_of(last.call)


def last_list(state: State) -> CallState | None:
    """The last call that set the todo list. It is found even after a compaction: a session's calls are never
    dropped."""
    return next((each for each in reversed(state.calls.values()) if is_list(each)), None)


def is_list(call: CallState) -> bool:
    return call.call.name == TODO and isinstance(call.outcome, Finished) and not call.forgotten


def items_of(call: Call) -> tuple[Item, ...]:
    try:
        return msgspec.json.decode(call.arguments, type=TodoArguments).items
    except msgspec.DecodeError:
        return ()


def has_open(items: tuple[Item, ...]) -> bool:
    return any(each.status != "completed" for each in items)
