"""What tools act on: the files beneath the session's folders, and processes started in the first of them."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING

from coderelay.protocol.calls import Finished
from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.files.disk import Disk
from coderelay.workspace.files.files import Editor, Files, FilesOnDisk, LentFiles
from coderelay.workspace.files.read_files import KnownFiles
from coderelay.workspace.processes.background import Background, no_background
from coderelay.workspace.processes.processes import Heard, Processes
from coderelay.workspace.processes.session_processes import CommandContext, Commands

if TYPE_CHECKING:
    from coderelay.workspace.sandbox.sandbox import Sandbox

Hidden = Callable[[Iterable[str]], set[str]]
"""Those of these files whose content nobody may be shown unasked."""
_NO_VARIABLES: Mapping[str, str] = {}
GiveTask = Callable[[str, str], Awaitable[Finished]]
"""A description for people, and what the agent is told. Its answer is the result. Raises ToolFailed."""


def nothing_hidden(paths: Iterable[str]) -> set[str]:
    return set()


class Workspace:
    def __init__(
        self,
        root: str,
        processes: Processes,
        environment: Mapping[str, str],
        *,
        folders: Sequence[str] = (),
        editor: Editor | None = None,
        known: KnownFiles | None = None,
        sandbox: "Callable[[tuple[str, ...]], Sandbox] | None" = None,
        wanted: Callable[[], CommandContext] = CommandContext,
        variables: Mapping[str, str] = _NO_VARIABLES,
        hidden: Hidden = nothing_hidden,
    ) -> None:
        """`folders` are those that may be used besides `root`. `sandbox` opens the one for commands in them, which
        have the `variables` besides the `environment`."""
        self.disk = Disk([root, *folders])
        self.files: Files = FilesOnDisk(self.disk) if editor is None else LentFiles(self.disk, editor)
        self.known = KnownFiles() if known is None else known
        self.background: Callable[[], Background] = no_background
        self.give_task: GiveTask = no_tasks
        self.hidden: Hidden = hidden
        self.processes = processes
        roots = self.disk.roots
        opened = None if sandbox is None else lambda: sandbox(roots)
        self.commands = Commands(
            processes, environment, self.disk.root, sandbox=opened, wanted=wanted, variables=variables
        )
        self.environment = environment

    @property
    def root(self) -> str:
        return self.disk.root

    def with_tasks(self, give_task: GiveTask) -> "Workspace":
        """The same, with somebody to give a task to."""
        there = copy(self)
        there.give_task = give_task
        return there

    def heard_by(self, heard: Heard) -> "Workspace":
        """The same, but somebody is told of what its commands write until they end."""
        there = copy(self)
        there.commands = self.commands.heard_by(heard)
        return there

    def at(self, folder: str) -> "Workspace":
        """The same, but commands start in that folder of it."""
        there = copy(self)
        there.commands = self.commands.at(folder)
        return there


async def no_tasks(description: str, prompt: str) -> Finished:
    raise ToolFailed("there is no other agent here to give a task to; do it yourself")
