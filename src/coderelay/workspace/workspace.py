"""What tools act on: the files beneath the session's folders, and processes started in the first of them."""

from collections.abc import Mapping, Sequence

from coderelay.workspace.commands import Commands
from coderelay.workspace.disk import Disk
from coderelay.workspace.files import Editor, Files, FilesOnDisk, LentFiles
from coderelay.workspace.known import KnownFiles
from coderelay.workspace.processes import Processes


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
    ) -> None:
        """`folders` are those that may be used besides `root`."""
        self.disk = Disk([root, *folders])
        self.files: Files = FilesOnDisk(self.disk) if editor is None else LentFiles(self.disk, editor)
        self.known = KnownFiles() if known is None else known
        self.processes = processes
        self.commands = Commands(processes, environment, self.disk.root)
        self.environment = environment

    @property
    def root(self) -> str:
        return self.disk.root
