"""Summary rows: a session, a message or an ask as lists show it and as the store keeps it."""

from datetime import date
from typing import Literal

from msgspec import Struct

from coderelay.protocol.asks import Ask, By, Decision
from coderelay.protocol.ids import MachineIdentity, OwnerId, SessionId
from coderelay.protocol.session_events import SessionConfigured
from coderelay.protocol.session_setting_values import Mode, Profile, Think
from coderelay.protocol.usage_and_cost import Usage

Phase = Literal["idle", "running", "waiting", "done", "failed", "stopped", "deleted"]


_EPOCH = date(1970, 1, 1).toordinal()
_DAY_MS = 86_400_000
_TITLE_CHARS = 60


class Summary(Struct, frozen=True, omit_defaults=True):
    """One session. `cost` is the known part of its cost in US dollars, and `day_cost` is what of that was spent on
    `day` (UTC), by the people in `day_costs`. `sender` sent the prompt of the last turn. `context_tokens` is how much
    of the model's window the conversation fills. `background` counts the background commands that have not ended,
    `children` the child sessions; `parent` is the session that this one works for. `person` created the session, and
    `machine` has its folder. `pending` are settings that change when the open turn ends. `blocking`: that turn keeps
    its owner while people are asked. `asks` are the open asks, and `open_asks` is their number. An older program
    drops `asks` when it writes the row; then there are fewer of them, and reading the log after the event number
    `asks_after` finds all of them."""

    id: SessionId
    cwd: str
    agent: str
    model: str
    mode: Mode
    created_at: int
    updated_at: int
    title: str = ""
    agent_session_id: str | None = None
    allowed_tools: tuple[str, ...] = ()
    phase: Phase = "idle"
    last_prompt: str = ""
    error: str | None = None
    head: int = 0
    epoch: int = 0
    owner: OwnerId | None = None
    open_asks: int = 0
    asks_after: int = 0
    asks: tuple[Ask, ...] = ()
    queued: int = 0
    turn_open: bool = False
    think: Think = "auto"
    folders: tuple[str, ...] = ()
    usage: Usage = Usage()
    cost: float | None = None
    context_tokens: int = 0
    day: str = ""
    day_cost: float = 0.0
    background: int = 0
    parent: SessionId | None = None
    children: int = 0
    pending: SessionConfigured | None = None
    person: str = ""
    machine: MachineIdentity | None = None
    sender: str = ""
    day_costs: dict[str, float] = {}
    blocking: bool = False
    profile: Profile = ""


def day_of(at: int) -> str:
    """The UTC date of a time in milliseconds since 1970."""
    return str(date.fromordinal(_EPOCH + at // _DAY_MS))


def title_from(prompt: str) -> str:
    """The title of a session that nobody has named: the first line of its first prompt, 60 characters of it."""
    line = " ".join(next((each for each in prompt.splitlines() if each.strip()), "").split())
    return line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1].rstrip() + "…"


class MessageRow(Struct, frozen=True):
    """A message in the form that wire surfaces show; `data` is its JSON text."""

    id: str
    data: str


class Messages(Struct, frozen=True):
    """The messages of a session, oldest first. `seq` is the last event that they were made from: whoever follows the
    session after it gets every later message, and none of these again."""

    rows: list[MessageRow]
    seq: int


class AskRow(Struct, frozen=True, omit_defaults=True):
    """An ask with what a person needs to know to decide it, and the decision if there is one. `parent` is the parent
    of the ask's session."""

    session: SessionId
    title: str
    cwd: str
    ask: Ask
    open: bool = True
    decision: Decision | None = None
    by: By | None = None
    parent: SessionId | None = None
    parent_title: str = ""
