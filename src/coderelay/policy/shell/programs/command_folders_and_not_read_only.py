"""The folders in which a command may read and write, and the refusal of what is not proved to be harmless."""

from msgspec import Struct

# System files that every read-only program may read, because they hold no secrets.
_EVERYBODYS = {
    "/etc/os-release", "/etc/debian_version", "/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/version",
}  # fmt: skip


class CommandFolders(Struct, frozen=True):
    """The workspace folders as absolute paths; `at_root` says whether the command is still at the first one.

    `reading` is true for a program that only reads, which may also read the public system files. `sandboxed` says
    that what it starts by itself is confined. With `anywhere`, every path counts as inside, because an allow rule of
    the person covers the command.
    """

    folders: tuple[str, ...] = ()
    at_root: bool = True
    reading: bool = False
    sandboxed: bool = False
    anywhere: bool = False

    def holds(self, path: str) -> bool:
        if self.anywhere:
            return True
        if ".." in path.split("/") or path.startswith("~"):
            return False
        if not path.startswith("/") or path == "/dev/null" or (self.reading and path in _EVERYBODYS):
            return True
        return any(path == folder or path.startswith(f"{folder}/") for folder in self._real_folders())

    def is_root(self, path: str) -> bool:
        return (path == "." and self.at_root) or (path.rstrip("/") in self._real_folders())

    def _real_folders(self) -> tuple[str, ...]:
        """The absolute folders without `/`, which would hold every path."""
        return tuple(folder.rstrip("/") for folder in self.folders if folder.startswith("/") and folder.strip("/"))


class NotReadOnly(Exception):
    """A command is not proved to be harmless; the `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
