"""The contract of a tool: say what a call would touch without doing it; then do it.

A tool never judges and never records. What goes wrong is a ToolFailed, which becomes a result the
model can act on. All that other rooms know of a tool (how rules name it, how its calls are drawn, its Chinese) is in
its `spec`; `built_in` lists the tools that we bring.
"""

from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from coderelay.protocol.calls import CommandEnd, Finished, Need, ToolSpec
from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.workspace import Workspace

Arguments = TypeVar("Arguments", bound=Struct)


class CommandFailed(ToolFailed):
    """A command that a tool ran did not end well. The `detail` is what it wrote."""

    def __init__(self, message: str, end: CommandEnd, *, detail: str = "") -> None:
        super().__init__(message, detail=detail)
        self.end = end


class Tool(Protocol, Generic[Arguments]):
    spec: ToolSpec
    arguments: type[Arguments]

    def need(self, arguments: Arguments, workspace: Workspace) -> Need:
        """What the call would touch. Changes nothing."""
        ...

    async def run(self, arguments: Arguments, workspace: Workspace) -> Finished:
        """Act. Raises ToolFailed with a message for the model."""
        ...
