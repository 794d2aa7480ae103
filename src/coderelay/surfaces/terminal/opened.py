"""What a terminal is given to show a session."""

from typing import Literal

from msgspec import Struct

from coderelay.client.client import Client
from coderelay.client.slash_commands import RememberModel
from coderelay.protocol.asks import By
from coderelay.protocol.ids import SessionId

WhileRunning = Literal["queue", "steer", "stop", "ignore"]


class Opened(Struct, frozen=True):
    """`told` is for the person; `is_known` if the session has a past to tell; `history` is the file of what was typed
    before."""

    client: Client
    session: SessionId
    by: By
    remember_model: RememberModel
    told: tuple[str, ...]
    is_known: bool
    while_running: WhileRunning
    history: str
    max_steps: int | None = None
