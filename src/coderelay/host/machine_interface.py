"""Interface of what this machine offers besides sessions: models, MCP servers, files, folders and programs."""

from collections.abc import Sequence
from typing import Protocol

from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import MachineIdentity
from coderelay.protocol.query_results import (
    DefaultsShown,
    FileShown,
    FilesShown,
    FoldersShown,
    ModelShown,
    ServedModels,
    ServerRow,
)
from coderelay.session.state import State


class Servers(Protocol):
    async def rows(self) -> list[ServerRow]: ...

    async def text(self, server: str, what: str, rest: str) -> str:
        """The text of a prompt or a resource. Raises BadInput."""
        ...


class NoServers:
    """The servers of a folder that has none configured."""

    async def rows(self) -> list[ServerRow]:
        return []

    async def text(self, server: str, what: str, rest: str) -> str:
        raise BadInput("no MCP servers configured", "Add one with `coder mcp add`.")


class Machine(Protocol):
    """What the machine offers besides sessions. `log_name` says where the log is, without any secret in it.
    `identity` is how a log that several machines share knows the machine; None if the log is a file on this one."""

    @property
    def log_name(self) -> str: ...

    @property
    def identity(self) -> MachineIdentity | None:
        """Raises StoreFailed."""
        ...

    async def offered_models(self, cwd: str) -> list[ModelShown]:
        """The models that can be used in a folder. Raises BadInput if its configuration is wrong."""
        ...

    async def served_models(self, cwd: str, model: str) -> ServedModels:
        """The models that the server of a model says it has, by the configuration of a folder. Raises BadInput if
        that is wrong."""
        ...

    async def defaults(self, cwd: str) -> DefaultsShown:
        """What a new session in a folder gets. Raises BadInput if its configuration is wrong."""
        ...

    def servers(self, cwd: str, state: State) -> Servers:
        """The MCP servers of a folder, and those that a client has lent to a session in it. Raises BadInput if the
        folder's configuration is wrong."""
        ...

    async def files_in(self, folder: str) -> FilesShown: ...

    async def folders_in(self, folder: str, roots: Sequence[str], *, hidden: bool) -> FoldersShown:
        """Raises BadInput if the folder is not beneath one of the roots, or cannot be read."""
        ...

    async def file_text(self, folders: Sequence[str], path: str, most_bytes: int) -> FileShown:
        """The text of a file beneath one of the folders. Raises ToolFailed if it cannot be read."""
        ...

    def programs(self) -> Sequence[str]:
        """The names of third-party agent programs that are installed."""
        ...
