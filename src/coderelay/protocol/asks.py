"""What a person must decide, and the decision."""

from msgspec import Struct

from coderelay.protocol.calls import Need
from coderelay.protocol.ids import AskId, CallId


class By(Struct, frozen=True):
    """Who did something, and through which surface."""

    who: str
    via: str

    def __str__(self) -> str:
        return f"{self.who} ({self.via})"


class Ask(Struct, frozen=True):
    """May this call run? Opened with its batch; exactly one answer, or the turn's stop, closes it."""

    id: AskId
    call_id: CallId
    need: Need
    reason: str


class Allow(Struct, frozen=True, tag="allow"):
    pass


class Deny(Struct, frozen=True, tag="deny", omit_defaults=True):
    message: str = ""


class DenyAndStop(Struct, frozen=True, tag="deny_and_stop"):
    """Deny every open ask and stop the turn."""


Decision = Allow | Deny | DenyAndStop
