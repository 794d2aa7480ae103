"""The session's folder as project types look at it."""

from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.files.disk import Disk

_MOST_BYTES = 1 << 20


class ProjectFiles:
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._names: dict[str, frozenset[str]] = {}

    def names(self, folder: str) -> frozenset[str]:
        if folder not in self._names:
            self._names[folder] = self._list(folder)
        return self._names[folder]

    def text(self, path: str) -> str:
        try:
            return self._disk.read(path, _MOST_BYTES).data.decode("utf-8", "replace")
        except ToolFailed:
            return ""

    def _list(self, folder: str) -> frozenset[str]:
        try:
            return frozenset(entry.name for entry in self._disk.list(folder or "."))
        except ToolFailed:
            return frozenset()
