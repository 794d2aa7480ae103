"""What `coder -p` prints as text, its progress on stderr, and pacing for readers slower than the session."""

from typing import Any, Literal, Protocol

import msgspec

from coderelay.protocol.events import (
    Recorded,
)
from coderelay.protocol.ids import SessionId
from coderelay.protocol.live_updates import Live
from coderelay.protocol.projected_rows import AskRow

Form = Literal["text", "json", "stream-json"]


class CutShort(msgspec.Struct, frozen=True):
    """Why a run ends before its turn has ended: `asks` are open, or there is a `problem`. It was interrupted if there
    is neither."""

    asks: tuple[AskRow, ...] | None = None
    problem: str | None = None


class PromptOutput(Protocol):
    def event(self, recorded: Recorded) -> None: ...
    def live(self, live: Live) -> None: ...
    def child_event(self, recorded: Recorded) -> None:
        """Called for the events of child sessions. Their results are also the outcomes of the parent's calls."""
        ...

    def finish(self, ended: Recorded) -> None:
        """Called when the turn of this run's prompt has ended."""
        ...

    def cut_short(self, cut: CutShort) -> None:
        """Called instead of `finish` if the run ends before its turn has ended."""
        ...


class InitFields(Protocol):
    def __call__(self, model: str, cwd: str) -> dict[str, Any]:
        """The fields of the init message that the event of a turn's start does not have."""
        ...


class ResultMessages(Protocol):
    """Makes the result message of a run. It is given every event of the session and of its children."""

    session: SessionId

    def take(self, recorded: Recorded) -> None: ...
    def of_turn(self, ended: Recorded) -> dict[str, Any]: ...
    def interrupted_result(self, cut: CutShort) -> dict[str, Any]: ...
