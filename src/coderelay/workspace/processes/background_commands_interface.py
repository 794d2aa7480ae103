"""The interface to the background commands of a session."""

from typing import NoReturn, Protocol

from msgspec import Struct

from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.ids import BackgroundId
from coderelay.workspace.processes.command_runner import RunningCommand


class BackgroundStatus(Struct, frozen=True):
    """The state of a background command: its `output` since the last look, a sentence about it (`told`), and whether
    it is over."""

    output: str
    told: str
    over: bool


class Background(Protocol):
    """Holds background commands. All methods raise ToolFailed, with a message for the model."""

    def make_room(self) -> None:
        """Call this before another command is started."""
        ...

    def keep(self, running: RunningCommand) -> BackgroundId:
        """Let a command run on under the returned id. It is ended if the log never records that it was started."""
        ...

    def look(self, wanted: BackgroundId) -> BackgroundStatus: ...

    async def stop(self, wanted: BackgroundId) -> BackgroundStatus: ...


def no_background() -> NoReturn:
    raise ToolFailed("commands cannot run in the background here")
