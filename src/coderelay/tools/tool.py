"""The interface of a tool: `need` says what a call would touch without doing it; `run` does it.

A tool never judges permissions and never records events. Errors are raised as ToolFailed, which becomes a result that
the model can act on. All that other packages know of a tool (how rules name it, how its calls are drawn, its Chinese
texts) is in its `spec`; `builtin_tools` lists the built-in tools.
"""

from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from coderelay.protocol.calls import CommandEnd, Finished, Need
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.workspace.workspace import Workspace

Arguments = TypeVar("Arguments", bound=Struct)


class CommandFailed(ToolFailed):
    """A command that a tool ran failed. `detail` is the output of the command."""

    def __init__(self, message: str, end: CommandEnd, *, detail: str = "") -> None:
        super().__init__(message, detail=detail)
        self.end = end


class Tool(Protocol, Generic[Arguments]):
    spec: ToolSpec
    arguments: type[Arguments]

    def need(self, arguments: Arguments, workspace: Workspace) -> Need:
        """Return what the call would touch. Changes nothing."""
        ...

    async def run(self, arguments: Arguments, workspace: Workspace) -> Finished:
        """Run the call. Raises ToolFailed with a message for the model."""
        ...
