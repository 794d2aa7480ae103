"""Undo: restores what changed between two snapshots of a folder to the first one. Redo swaps the snapshots.

A file is restored only if it still is as in the second snapshot; a file that somebody changed since is a conflict and
is left alone. All files are checked before anything is written. A file that already is as in the first snapshot needs
nothing, so after a crash undo can simply be repeated.
"""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct

from coderelay.protocol.translatable import say
from coderelay.workspace.trees.git_subprocess import Blobs, Cancellation, Git, GitFailed, run_cancellable
from coderelay.workspace.trees.ignored_files import RULES, ignored_paths, ignored_paths_in_tree
from coderelay.workspace.trees.shadow_repository import ShadowRepository
from coderelay.workspace.trees.snapshots import Snapshot, SnapshotTaker
from coderelay.workspace.trees.tree_diff import MARKED, EntryPair, TreeEntry, pairs_between, shown
from coderelay.workspace.trees.tree_writer import prefix_of
from coderelay.workspace.trees.work_tree_files import LINK, WorkTreeFile, WorkTreeFiles


class KeptFile(Struct, frozen=True):
    """A file that stays as it is, and why."""

    path: str
    why: str


class UndoResult(Struct, frozen=True):
    """Files in `conflicts` were changed by somebody since. Of files in `skipped`, the old content was not stored."""

    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    conflicts: tuple[KeptFile, ...] = ()
    skipped: tuple[KeptFile, ...] = ()


async def undo(trees: SnapshotTaker, before: Snapshot, after: Snapshot, *, dry_run: bool = False) -> UndoResult:
    """Raises NoRepository or GitFailed. In that case nothing was changed, or undo can be repeated."""

    def work(cancellation: Cancellation) -> UndoResult:
        shadow = trees.shadow(after, cancellation)
        with shadow.locked(), _oserror_told():
            plan = _Plan(shadow, before, after, trees.limits.file_bytes)
            if not dry_run:
                plan.carry_out()
            return plan.told()

    return await run_cancellable(work)


@contextmanager
def _oserror_told() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise GitFailed(f"{error.filename}: {error.strerror}") from error


class _Plan:
    """What undo will do to each path (`_todo`), and which paths it leaves alone. Made before anything is written."""

    def __init__(self, shadow: ShadowRepository, before: Snapshot, after: Snapshot, most_bytes: int) -> None:
        self._git = shadow.reader
        self._beneath = WorkTreeFiles(after.folder, shadow.hash_name, most_bytes)
        self._seen: dict[bytes, WorkTreeFile | None] = {}
        self._conflicts: dict[bytes, str] = {}
        self._skipped: dict[bytes, str] = {}
        pairs = pairs_between(self._git, before.id, after.id)
        self._todo = {pair.path: pair for pair in pairs}
        self._new = [pair.path for pair in pairs if pair.before is None]  # including those that are gone already
        self._skip(_uncovered(pairs), "it is a repository of its own, or too large, or could not be read")
        unknown = _unknown(shadow, before, after, pairs)
        self._skip(unknown, "git ignored it, so it is not known whether it was there before")
        self._skip(_lost(self._git, self._todo.values()), "its content is no longer there")
        for pair in list(self._todo.values()):
            self._compare(pair)
        while sum(self._settle(pair) for pair in list(self._todo.values())):
            pass  # a file that stays may prevent others from being restored

    def _skip(self, paths: Iterable[bytes], why: str) -> None:
        for path in paths:
            if self._todo.pop(path, None):
                self._skipped[path] = why

    def _conflict(self, path: bytes, why: str) -> None:
        del self._todo[path]
        self._conflicts[path] = why

    def _compare(self, pair: EntryPair) -> None:
        found = self._look(pair.path)
        if found is not None and found.is_folder:  # for a file entry, a folder counts as absent
            if pair.before is None:
                del self._todo[pair.path]
            elif pair.after is not None:
                self._conflict(pair.path, "it is a folder now")
            return
        now = None if found is None else found.entry
        if found is not None and now is None:
            self._conflict(pair.path, "it is nothing that git would keep now")
        elif now == pair.before:
            del self._todo[pair.path]
        elif now != pair.after:
            self._conflict(pair.path, "it was changed since" if found else "it was removed since")

    def _settle(self, pair: EntryPair) -> bool:
        """Record a conflict, and return True, if something that stays prevents a file from being restored."""
        if pair.before is None:
            return False
        found = self._look(pair.path)
        if found is not None and found.is_folder:
            stays = self._beneath.first_beneath(pair.path, lambda path: not self._goes(path))
            if stays is not None:
                self._conflict(pair.path, say("it is a folder now, and {path} is in it", path=shown(stays)))
                return True
        for above in _above(pair.path):
            found = self._look(above)
            if found is not None and not found.is_folder and not self._goes(above):
                self._conflict(pair.path, say("{path} is no folder now", path=shown(above)))
                return True
        return False

    def _look(self, path: bytes) -> WorkTreeFile | None:
        if path not in self._seen:
            self._seen[path] = self._beneath.look(path)
        return self._seen[path]

    def _goes(self, path: bytes) -> bool:
        pair = self._todo.get(path)
        return pair is not None and pair.before is None

    def carry_out(self) -> None:
        """Remove files first, to make room for those that are restored; remove folders that became empty last."""
        going = sorted(filter(self._goes, self._todo))
        for path in going:
            self._try(path, lambda path=path: self._beneath.remove(path))
        with self._git.blobs() as blobs:
            for path, pair in sorted(self._todo.items()):
                if pair.before is not None:
                    self._try(path, lambda pair=pair, entry=pair.before: self._bring_back(pair, entry, blobs))
        for path in self._new:
            for above in _above(path):
                if not self._beneath.remove_folder(above):
                    break

    def _try(self, path: bytes, act: Callable[[], None]) -> None:
        found = self._seen[path]
        mark = self._beneath.mark(path)
        if mark != (found and found.mark) and not (found and found.is_folder):
            self._conflict(path, "it was changed just now")
            return
        try:
            act()
        except OSError as error:
            self._conflict(path, say("it cannot be written: {why}", why=error.strerror))

    def _bring_back(self, pair: EntryPair, entry: TreeEntry, blobs: Blobs) -> None:
        found = self._seen[pair.path]
        if found is not None and found.is_folder and self._beneath.mark(pair.path) is not None:
            self._beneath.remove_folders(pair.path)
        if _is_only_mode(entry, pair.after):
            self._beneath.set_mode(pair.path, entry.mode)
            return
        pieces = blobs.pieces(entry.blob)
        try:
            self._beneath.write(pair.path, entry.mode, pieces)
        finally:
            for _ in pieces:  # it must be read to its end before the next one
                pass

    def told(self) -> UndoResult:
        def unchanged(these: Mapping[bytes, str]) -> tuple[KeptFile, ...]:
            return tuple(KeptFile(shown(path), why) for path, why in sorted(these.items()))

        done = sorted(self._todo)
        return UndoResult(
            restored=tuple(shown(path) for path in done if not self._goes(path)),
            removed=tuple(shown(path) for path in done if self._goes(path)),
            conflicts=unchanged(self._conflicts),
            skipped=unchanged(self._skipped),
        )


def _uncovered(pairs: Sequence[EntryPair]) -> list[bytes]:
    """Paths whose content is not stored, including those in a nested repository that became an ordinary folder."""
    marked = {pair.path for pair in pairs if pair.before is not None and pair.before.mode == MARKED}
    return [
        pair.path
        for pair in pairs
        if pair.path in marked
        or (pair.after is not None and pair.after.mode == MARKED)
        or any(above in marked for above in _above(pair.path))
    ]


def _unknown(shadow: ShadowRepository, before: Snapshot, after: Snapshot, pairs: Sequence[EntryPair]) -> list[bytes]:
    """Files that may only appear to be new, because they were ignored before and nobody named them."""
    new = [pair.path for pair in pairs if pair.before is None]
    if before.rules != after.rules:
        return new
    prefix = os.fsencode(prefix_of(shadow, before.folder))
    asked = [prefix + path for path in new]
    found = set(ignored_paths(shadow, asked))
    if any(os.path.basename(pair.path) == RULES for pair in pairs):
        found.update(ignored_paths_in_tree(shadow, before.id, prefix, asked))
    known = set(before.named)
    return [path for path in new if prefix + path in found and shown(path) not in known]


def _lost(git: Git, pairs: Iterable[EntryPair]) -> list[bytes]:
    """Paths whose old content is missing: git's garbage collection may have removed it from the person's objects."""
    wanted = [(pair.path, pair.before.blob) for pair in pairs if pair.before is not None]
    asked = "".join(f"{blob}\n" for _, blob in wanted).encode()
    told = git.run("cat-file", "--batch-check=%(objecttype)", "--buffer", given=asked).splitlines()
    return [path for (path, _), kind in zip(wanted, told, strict=True) if kind != b"blob"]


def _is_only_mode(before: TreeEntry, after: TreeEntry | None) -> bool:
    return after is not None and before.blob == after.blob and LINK not in (before.mode, after.mode)


def _above(path: bytes) -> Iterator[bytes]:
    while path := os.path.dirname(path):
        yield path
