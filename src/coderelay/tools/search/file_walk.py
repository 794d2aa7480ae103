"""Walks the files beneath a folder; follows no links and skips what .gitignore rules exclude.

Every folder is opened relative to the descriptor of its parent, so that nobody can lead the walk elsewhere. Standard
library only, because `grep_script.py` runs this in a process of its own.
"""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from coderelay.tools.search.gitignore_rules import OPEN, RulesFrom, is_ignored, rules_above, rules_of_folder
from coderelay.workspace.files.openat import open_folder

KEPT_BY_TOOLS = frozenset({".git", ".hg", ".jj", ".svn"})
_DEEPEST = 200


class WalkedFile(NamedTuple):
    """An entry that is not a folder. `folder` is the descriptor of its folder, open until the next entry is
    requested."""

    path: str
    folder: int
    entry: os.DirEntry[str]


class Walk:
    """Iterates over the files beneath a folder. `ignored` counts the entries skipped so far; a skipped folder counts
    once."""

    def __init__(self, root: str, start: str = "") -> None:
        """`root` is a real path; `start` is a folder beneath it, as a relative path without links."""
        self._root = root
        self._start = start
        self.ignored = 0

    def __iter__(self) -> Iterator[WalkedFile]:
        """The entries of each folder come sorted by name. Paths are relative to the root. Raises OSError if the first
        folder cannot be opened."""
        folder = open_folder(self._root, self._start, os.O_RDONLY)
        try:
            prefix = f"{self._start}/" if self._start else ""
            yield from self._within(folder, prefix, rules_above(self._root, self._start), 0)
        finally:
            os.close(folder)

    def _within(self, folder: int, prefix: str, rules: "Sequence[RulesFrom]", depth: int) -> Iterator[WalkedFile]:
        entries = _entries(folder)
        if any(each.name == ".gitignore" for each in entries):
            rules = [*rules_of_folder(folder, prefix), *rules]
        for entry in entries:
            name = entry.name
            if name in KEPT_BY_TOOLS:
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            path = prefix + name
            if rules and is_ignored(rules, path, name, is_folder):
                self.ignored += 1
            elif not is_folder:
                yield WalkedFile(path, folder, entry)
            elif depth < _DEEPEST:
                yield from self._into(folder, name, f"{path}/", rules, depth + 1)

    def _into(
        self, folder: int, name: str, prefix: str, rules: "Sequence[RulesFrom]", depth: int
    ) -> Iterator[WalkedFile]:
        try:
            inner = os.open(name, OPEN | os.O_DIRECTORY, dir_fd=folder)
        except OSError:  # deleted meanwhile, or not permitted
            return
        try:
            yield from self._within(inner, prefix, rules, depth)
        finally:
            os.close(inner)


def _entries(folder: int) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []
