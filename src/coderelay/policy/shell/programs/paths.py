"""Is a path beneath the workspace? By its letters alone: links are the sandbox's business."""

from msgspec import Struct

# Files of the system that are no secret of anybody's.
_EVERYBODYS = {
    "/etc/os-release", "/etc/debian_version", "/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/version",
}  # fmt: skip


class Place(Struct, frozen=True):
    """The workspace folders as absolute paths, and whether the command is still at the first one.

    `reading` is true for a program that only reads, which may also look at what is everybody's; `sandboxed` says
    that what it starts by itself is confined. With `anywhere` every path is held: the person has said so.
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
        """A session in `/` has no folder that keeps anything out."""
        return tuple(folder.rstrip("/") for folder in self.folders if folder.startswith("/") and folder.strip("/"))
