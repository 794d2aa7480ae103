"""One session in a line: what lists show, and the row the store keeps of it."""

from datetime import date
from typing import Literal

from msgspec import Struct

from coderelay.protocol.asks import Ask, By, Decision
from coderelay.protocol.content import Usage
from coderelay.protocol.events import Mode, Think
from coderelay.protocol.ids import OwnerId, SessionId

Phase = Literal["idle", "running", "waiting", "done", "failed", "stopped", "deleted"]


_EPOCH = date(1970, 1, 1).toordinal()
_DAY_MS = 86_400_000


class Summary(Struct, frozen=True, omit_defaults=True):
    """`cost` is what is known of it, in US dollars; `day_cost` what of that was spent on `day`, in UTC.
    `context_tokens` is how much of the model's window the conversation fills; `background` how many background
    commands have no end yet; `children` how many sessions its calls opened, `parent` the session it works for. All
    asks that are open were opened after the event `asks_after`: reading on from there finds them."""

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


def day_of(at: int) -> str:
    """The day, in UTC, of a time in milliseconds since 1970."""
    return str(date.fromordinal(_EPOCH + at // _DAY_MS))


class MessageRow(Struct, frozen=True):
    """A message in the shape wire surfaces show; `data` is its JSON text."""

    id: str
    data: str


class AskRow(Struct, frozen=True, omit_defaults=True):
    """An ask with what a person needs to know to decide it, and how it was decided if it was. `parent` is the session
    that its session works for."""

    session: SessionId
    title: str
    cwd: str
    ask: Ask
    open: bool = True
    decision: Decision | None = None
    by: By | None = None
    parent: SessionId | None = None
    parent_title: str = ""
