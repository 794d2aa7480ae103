"""The workspace that tools act on: files beneath the session's folders, and commands run in the first folder."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING

from coderelay.protocol.calls import Finished
from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.files.confined_files import ConfinedFiles
from coderelay.workspace.files.disk_or_editor_files import DiskOrEditorFiles, Editor, Files, FilesOnDisk
from coderelay.workspace.files.read_tracking import FileReadTracker
from coderelay.workspace.processes.background_commands_interface import Background, no_background
from coderelay.workspace.processes.command_runner import OnOutput, Processes
from coderelay.workspace.processes.session_command_runner import CommandContext, SessionCommandRunner

if TYPE_CHECKING:
    from coderelay.workspace.sandbox.session_sandbox import Sandbox

Hidden = Callable[[Iterable[str]], set[str]]
"""Returns those of the given files whose content must not be shown without asking a person first."""
_NO_VARIABLES: Mapping[str, str] = {}
GiveTask = Callable[[str, str, str], Awaitable[Finished]]
"""Gives a task to another agent. Takes a description for people, the prompt for the agent, and the name of the
subagent that is meant, empty for none in particular; returns the agent's answer. Raises ToolFailed."""


def nothing_hidden(paths: Iterable[str]) -> set[str]:
    return set()


class Workspace:
    """The files, commands, background commands and tasks that the tools of one session can use."""

    def __init__(
        self,
        root: str,
        processes: Processes,
        environment: Mapping[str, str],
        *,
        folders: Sequence[str] = (),
        editor: Editor | None = None,
        known: FileReadTracker | None = None,
        sandbox: "Callable[[tuple[str, ...]], Sandbox] | None" = None,
        wanted: Callable[[], CommandContext] = CommandContext,
        variables: Mapping[str, str] = _NO_VARIABLES,
        hidden: Hidden = nothing_hidden,
    ) -> None:
        """`folders` may be used in addition to `root`. `sandbox` opens the sandbox for commands in these folders.
        SessionCommandRunner get the `variables` in addition to the `environment`."""
        self.disk = ConfinedFiles([root, *folders])
        self.files: Files = FilesOnDisk(self.disk) if editor is None else DiskOrEditorFiles(self.disk, editor)
        self.known = FileReadTracker() if known is None else known
        self.background: Callable[[], Background] = no_background
        self.give_task: GiveTask = no_tasks
        self.hidden: Hidden = hidden
        self.processes = processes
        roots = self.disk.roots
        opened = None if sandbox is None else lambda: sandbox(roots)
        self.commands = SessionCommandRunner(
            processes, environment, self.disk.root, sandbox=opened, wanted=wanted, variables=variables
        )
        self.environment = environment

    @property
    def root(self) -> str:
        return self.disk.root

    def with_tasks(self, give_task: GiveTask) -> "Workspace":
        """A copy of this workspace that gives tasks to other agents with `give_task`."""
        there = copy(self)
        there.give_task = give_task
        return there

    def with_output_listener(self, listener: OnOutput) -> "Workspace":
        """A copy of this workspace whose commands pass their output to `listener` until they end."""
        there = copy(self)
        there.commands = self.commands.with_output_listener(listener)
        return there

    def at(self, folder: str) -> "Workspace":
        """A copy of this workspace whose commands start in `folder`, a folder of the workspace."""
        there = copy(self)
        there.commands = self.commands.at(folder)
        return there


async def no_tasks(description: str, prompt: str, subagent: str) -> Finished:
    raise ToolFailed("there is no other agent here to give a task to; do it yourself")
