"""Moves aside files that other programs obey and that a command created where there were none before.

Only a few of these names are mounted while they are absent, because people and models see an empty folder in place of
each. A file that appears while no command runs in the foreground is the work of a person, or of a tool that was
allowed to write it, and stays.
"""

from collections.abc import Iterable

from coderelay.workspace.sandbox.guarded_paths import files_below, obeyed_files_in, open_folders
from coderelay.workspace.sandbox.restore import move_aside


class PlantedFiles:
    """Compares the obeyed files in the session's folders before and after a command."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = tuple(folders)
        self._before: set[str] | None = None
        self._has_mounts = True

    def look(self, *, has_mounts: bool) -> None:
        """Record what exists before a command. Of several commands that run at the same time, the first one's record
        counts. Without mounts, a command can also create files in a folder that existed."""
        if self._before is None:
            self._has_mounts = has_mounts
            self._before = self._present()

    def move_aside(self) -> list[str]:
        """Move aside what the command has created. Returns the paths."""
        if self._before is None:
            return []
        new = sorted(self._present() - self._before)
        self._before = None
        return [path for path in new if move_aside(path)]

    def _present(self) -> set[str]:
        present = {path for folder in self._folders for path in obeyed_files_in(folder)}
        if not self._has_mounts:
            present |= {file for folder in open_folders(self._folders) for file in files_below(folder)}
        return present
