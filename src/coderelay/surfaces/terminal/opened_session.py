"""A session that was just opened, with the parameters with which a terminal shows it."""

from typing import Literal

from msgspec import Struct

from coderelay.client.client import Client
from coderelay.client.slash_commands import RememberModel
from coderelay.protocol.asks import By
from coderelay.protocol.ids import SessionId

WhileRunning = Literal["queue", "steer", "stop", "ignore"]


class OpenedSession(Struct, frozen=True):
    """An opened session. `told` are messages for the person; `is_known` says that the session has earlier events to
    show; `history` is the path of the input history file; `output_lines` is how many lines of a tool's output are
    shown, 0 for all; `vi_keys`: the person types with vi's keys."""

    client: Client
    session: SessionId
    by: By
    remember_model: RememberModel
    told: tuple[str, ...]
    is_known: bool
    while_running: WhileRunning
    history: str
    max_steps: int | None = None
    output_lines: int = 0
    vi_keys: bool = False
