"""A cache of what is known of folders, bounded in a process that lives long."""

from collections.abc import Callable, Collection
from typing import Generic, TypeVar

T = TypeVar("T")

RECENT = 32


def no_folders() -> Collection[str]:
    return ()


class FolderCache(Generic[T]):
    """Keeps a value for each folder that is in `used`, and for the few of the others that were used last."""

    def __init__(self, used: Callable[[], Collection[str]] = no_folders) -> None:
        self._used = used
        self._known: dict[str, T] = {}  # the last used comes last
        self._most = 2 * RECENT

    def __len__(self) -> int:
        return len(self._known)

    def get(self, folder: str) -> T | None:
        value = self._known.pop(folder, None)
        if value is not None:
            self._known[folder] = value
        return value

    def put(self, folder: str, value: T) -> T:
        self._known.pop(folder, None)
        self._known[folder] = value
        if len(self._known) > self._most:
            self._drop_unused()
        return value

    def _drop_unused(self) -> None:
        """Looked at once for every few new folders, because it goes through all of them."""
        used = set(self._used())
        for folder in [each for each in self._known if each not in used][:-RECENT]:
            del self._known[folder]
        self._most = len(self._known) + RECENT
