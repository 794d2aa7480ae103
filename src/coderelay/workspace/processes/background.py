"""The contract of whoever keeps the background commands of a session."""

from typing import NoReturn, Protocol

from msgspec import Struct

from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.ids import BackgroundId
from coderelay.workspace.processes.processes import RunningCommand


class BackgroundStatus(Struct, frozen=True):
    """What there is to know of a command now: what it has written since the last look, and a sentence about it."""

    output: str
    told: str
    over: bool


class Background(Protocol):
    """All raise ToolFailed, with a message for the model."""

    def make_room(self) -> None:
        """To be asked before one more is started."""
        ...

    def keep(self, running: RunningCommand) -> BackgroundId:
        """It runs on, under this number. It is ended again if the log never says that it was started."""
        ...

    def look(self, wanted: BackgroundId) -> BackgroundStatus: ...

    async def stop(self, wanted: BackgroundId) -> BackgroundStatus: ...


def no_background() -> NoReturn:
    raise ToolFailed("commands cannot run in the background here")
