"""Is a path beneath the workspace? By its letters alone: links are the sandbox's business."""

from msgspec import Struct


class Place(Struct, frozen=True):
    """The workspace folders as absolute paths, and whether the command is still at the first one."""

    folders: tuple[str, ...] = ()
    at_root: bool = True

    def holds(self, path: str) -> bool:
        if ".." in path.split("/") or path.startswith("~"):
            return False
        if not path.startswith("/") or path == "/dev/null":
            return True
        return any(path == folder or path.startswith(f"{folder}/") for folder in self._real_folders())

    def is_root(self, path: str) -> bool:
        return (path == "." and self.at_root) or (path.rstrip("/") in self._real_folders())

    def _real_folders(self) -> tuple[str, ...]:
        """A session in `/` has no folder that keeps anything out."""
        return tuple(folder.rstrip("/") for folder in self.folders if folder.startswith("/") and folder.strip("/"))
