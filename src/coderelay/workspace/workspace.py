"""What tools act on: the files beneath the session's folders, and processes started in the first of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from coderelay.workspace.background import Background, no_background
from coderelay.workspace.commands import Commands, Wanted
from coderelay.workspace.disk import Disk
from coderelay.workspace.files import Editor, Files, FilesOnDisk, LentFiles
from coderelay.workspace.known import KnownFiles
from coderelay.workspace.processes import Processes

if TYPE_CHECKING:
    from coderelay.workspace.sandbox.sandbox import Sandbox  # loaded with the first command


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
        wanted: Callable[[], Wanted] = Wanted,
    ) -> None:
        """`folders` are those that may be used besides `root`. `sandbox` opens the one for commands in them."""
        self.disk = Disk([root, *folders])
        self.files: Files = FilesOnDisk(self.disk) if editor is None else LentFiles(self.disk, editor)
        self.known = KnownFiles() if known is None else known
        self.background: Callable[[], Background] = no_background
        self.processes = processes
        roots = self.disk.roots
        opened = None if sandbox is None else lambda: sandbox(roots)
        self.commands = Commands(processes, environment, self.disk.root, sandbox=opened, wanted=wanted)
        self.environment = environment

    @property
    def root(self) -> str:
        return self.disk.root
