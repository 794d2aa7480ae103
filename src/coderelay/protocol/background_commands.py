"""How a background command ended, and the row of a background command in a list."""

from msgspec import Struct

from coderelay.protocol.asks import By
from coderelay.protocol.event_base import Event
from coderelay.protocol.ids import BackgroundId
from coderelay.protocol.translatable import say


class Exited(Struct, frozen=True, tag="exited", omit_defaults=True):
    """The command ended by itself with an exit code, or was ended by a signal."""

    exit_code: int | None = None
    signal: int | None = None


class StoppedBy(Struct, frozen=True, tag="stopped"):
    by: By


class Gone(Struct, frozen=True, tag="gone"):
    """The command ended because the process that held it ended or was closed."""


End = Exited | StoppedBy | Gone


def end_in_words(end: End) -> str:
    match end:
        case Exited(signal=None):
            return say("ended with exit code {code}", code=end.exit_code)
        case Exited():
            return say("was ended by signal {number}", number=end.signal)
        case StoppedBy():
            return say("was stopped by {who}", who=end.by)
        case Gone():
            return "ended because the process that ran it ended"


class BackgroundRow(Struct, frozen=True, omit_defaults=True):
    """One background command. `end` is None while it runs; `started_at` is in milliseconds since 1970."""

    id: BackgroundId
    command: str
    started_at: int
    end: End | None = None


class BackgroundStopRequested(Event, frozen=True, tag="background.stop_requested"):
    """Somebody wants a background command to end. The process that holds the command then writes background.ended."""

    background_id: BackgroundId
    by: By


class BackgroundEnded(Event, frozen=True, tag="background.ended"):
    """Exactly one for every command that a call left running. It is written by the process that holds the command,
    even if another one owns the session, or by any process once that process has ended."""

    background_id: BackgroundId
    end: End
