"""Takes snapshots of a folder, as git trees in a shadow repository of ours. The folder need not be in a repository.

A snapshot covers what is beneath the folder, not the rest of the repository: the session may only change the folder,
and others work elsewhere. A file that git ignores is covered from the moment when somebody names it (`keep`).
"""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec import Struct, structs

from coderelay.protocol.errors import CoderError
from coderelay.protocol.query_results import FileChange, FilesDiff
from coderelay.workspace.trees import index_seed, tree_diff, tree_writer
from coderelay.workspace.trees.git_subprocess import Cancellation, GitFailed, nul_ended, nul_split, run_cancellable
from coderelay.workspace.trees.ignored_files import ignored_paths
from coderelay.workspace.trees.project_repository import folder_alone, repository_of
from coderelay.workspace.trees.repository_root_and_branch import root_of
from coderelay.workspace.trees.shadow_repository import ShadowRepository
from coderelay.workspace.trees.tree_writer import DEFAULT_LIMITS, OmittedPath, TreeLimits, WrittenTree

_MOST_NAMED = 500
FOLDER = "trees"
MOST_TREES, _SLACK = 50, 14
_SECONDS = 30 * 24 * 3600


class Snapshot(Struct, frozen=True, omit_defaults=True):
    """The state of a folder at one moment. `named` are the ignored files that it covers, whether they exist or not.
    `rules` is a hash of the ignore rules outside of the .gitignore files. `left_out` were not stored. The folder was
    `alone` if no repository contained it, or one that ignored it."""

    folder: str
    id: str
    left_out: tuple[OmittedPath, ...] = ()
    named: tuple[str, ...] = ()
    rules: str = ""
    alone: bool = False


class NoSnapshot(Struct, frozen=True):
    reason: str


class SnapshotTaker:
    """Takes and compares snapshots. `home` is a folder of ours that nobody else may read; `source` is an environment
    in which git is found."""

    def __init__(self, home: str, source: Mapping[str, str], limits: TreeLimits = DEFAULT_LIMITS) -> None:
        self.home = os.path.realpath(home)
        self.limits = limits
        self._source = source

    async def take(
        self, folder: str, also: Sequence[str] = (), *, like: Snapshot | None = None
    ) -> Snapshot | NoSnapshot:
        """Take a snapshot. `also` are paths beneath the folder that are covered from now on, even if ignored. If the
        folder was alone in the snapshot `like`, it still counts as alone: a turn may create a repository."""
        real = os.path.realpath(folder)
        alone = like is not None and like.alone and like.folder == real
        try:
            return await run_cancellable(lambda cancellation: self._take(real, alone, also, cancellation))
        except (CoderError, OSError) as error:
            return NoSnapshot(str(error))

    async def keep(self, tree: Snapshot, paths: Sequence[str]) -> Snapshot:
        """The same snapshot, plus the current content of those paths that git ignores; all others are in it anyway.

        It is called before a tool writes, so that the previous content is known later.
        """
        return await run_cancellable(lambda cancellation: self._keep(self.shadow(tree, cancellation), tree, paths))

    async def changes(self, before: Snapshot, after: Snapshot) -> list[FileChange]:
        def work(cancellation: Cancellation) -> list[FileChange]:
            return tree_diff.changes_between(self.shadow(after, cancellation).reader, before.id, after.id)

        return await run_cancellable(work)

    async def diff(self, before: Snapshot, after: Snapshot, paths: Sequence[str] = ()) -> str:
        def work(cancellation: Cancellation) -> str:
            return tree_diff.diff_between(self.shadow(after, cancellation).reader, before.id, after.id, paths)

        return await run_cancellable(work)

    async def worktree_changes(self, folder: str) -> FilesDiff:
        """Changes against the checked-out commit, as the person's git would show them, including untracked files."""
        return await run_cancellable(
            lambda cancellation: self._worktree_changes(os.path.realpath(folder), cancellation)
        )

    def shadow(self, tree: Snapshot, cancellation: Cancellation) -> ShadowRepository:
        """The shadow repository that holds a snapshot. Raises NoRepository."""
        return self._shadow(tree.folder, tree.alone, cancellation)

    def _shadow(self, folder: str, alone: bool, cancellation: Cancellation) -> ShadowRepository:
        person = self._source.get("HOME", "/")
        repository = folder_alone(folder, person) if alone or root_of(folder) is None else repository_of(folder)
        digest = hashlib.sha256(os.fsencode(f"{repository.hash_name()} {folder}")).hexdigest()[:32]
        return ShadowRepository(os.path.join(self.home, FOLDER, digest), repository, self._source, cancellation)

    def _take(self, folder: str, alone: bool, also: Sequence[str], cancellation: Cancellation) -> Snapshot:
        shadow = self._shadow(folder, alone, cancellation)
        with shadow.locked():
            shadow.prepare(exact=True, hidden=self.home)
            prefix = tree_writer.prefix_of(shadow, folder)
            if not prefix or not ignored_paths(shadow, [os.fsencode(prefix)]):
                _remember(shadow, ignored_paths(shadow, _from_top(prefix, also)))
                names = _remembered(shadow)
                counted = self._count(shadow, folder, names)
                keep(shadow, counted.tree)
                named, alone = _shown(prefix, names), shadow.repository.alone
                return Snapshot(folder, counted.tree, counted.left_out, named, shadow.rules(), alone)
        return self._take(folder, True, also, cancellation)

    def _count(self, shadow: ShadowRepository, folder: str, names: Sequence[bytes]) -> WrittenTree:
        try:
            tracked = index_seed.begin_index(shadow)
            return tree_writer.count(shadow, folder, [*tracked, *names], self.limits)
        except GitFailed:  # our index is damaged
            shadow.git.cancellation.check()
            shadow.forget_index()
            index_seed.begin_index(shadow)
            return tree_writer.count(shadow, folder, names, self.limits)

    def _keep(self, shadow: ShadowRepository, tree: Snapshot, paths: Sequence[str]) -> Snapshot:
        with shadow.locked():
            prefix = tree_writer.prefix_of(shadow, tree.folder)
            found = ignored_paths(shadow, _from_top(prefix, paths))
            new = [path for path in found if not set(_shown(prefix, [path])) & set(tree.named)]
            if not new:
                return tree
            _remember(shadow, new)
            wider = tree_writer.with_files(shadow, tree.id, tree.folder, new, self.limits)
            keep(shadow, wider)
        return structs.replace(tree, id=wider, named=(*tree.named, *_shown(prefix, new)))

    def _worktree_changes(self, folder: str, cancellation: Cancellation) -> FilesDiff:
        repository = repository_of(folder)
        places = os.path.join(self.home, FOLDER)
        os.makedirs(places, 0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="diff-", dir=places) as place:
            shadow = ShadowRepository(place, repository, self._source, cancellation)
            shadow.prepare(exact=False, hidden=self.home)
            index_seed.borrow_index(shadow)
            now = tree_writer.count(shadow, folder, [], self.limits).tree
            then = tree_writer.checked_out_tree(shadow, folder)
            changes = tree_diff.changes_between(shadow.reader, then, now)
            return FilesDiff(tree_diff.diff_between(shadow.reader, then, now), tuple(changes))


def _from_top(prefix: str, paths: Sequence[str]) -> list[bytes]:
    """Paths beneath the folder, relative to the root of the work tree as in git. Others are left out."""
    normal = [os.path.normpath(path) for path in paths]
    beneath = [path for path in normal if not os.path.isabs(path) and path.split(os.sep)[0] not in ("..", ".")]
    return [os.fsencode(prefix + path.replace(os.sep, "/")) for path in beneath]


def _shown(prefix: str, paths: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(tree_diff.shown(path.removeprefix(os.fsencode(prefix))) for path in paths)


def _remembered(shadow: ShadowRepository) -> list[bytes]:
    return nul_split(shadow.remembered("named"))


def _remember(shadow: ShadowRepository, paths: Sequence[bytes]) -> None:
    if paths:
        known = dict.fromkeys([*_remembered(shadow), *paths])
        shadow.remember("named", nul_ended(list(known)[-_MOST_NAMED:]))


def keep(shadow: ShadowRepository, tree: str) -> None:
    """Keep a tree from being pruned by a ref, whose time says when it was last the state of the folder. Now and
    then, trees beyond the newest `MOST_TREES` and trees older than 30 days are pruned."""
    refs = os.path.join(shadow.folder, "refs", "trees")
    os.makedirs(refs, 0o700, exist_ok=True)
    with open(os.path.join(refs, tree), "w") as file:
        file.write(f"{tree}\n")
    oldest_last = sorted(os.scandir(refs), key=lambda ref: ref.stat().st_mtime_ns, reverse=True)
    too_old = time.time() - _SECONDS
    gone = [ref for at, ref in enumerate(oldest_last) if at >= MOST_TREES or ref.stat().st_mtime < too_old]
    if len(gone) > _SLACK or (gone and gone[-1].stat().st_mtime < too_old):
        for ref in gone:
            os.unlink(ref.path)
        shadow.git.run("prune", "--expire=now")
        _sweep(os.path.dirname(shadow.folder), too_old)


def _sweep(places: str, too_old: float) -> None:
    """Remove shadow repositories whose lock was not taken for 30 days."""
    for place in os.scandir(places):
        with suppress(FileNotFoundError):
            lock = os.path.join(place.path, "lock")
            used = os.stat(lock if os.path.exists(lock) else place.path).st_mtime
            if used < too_old:
                shutil.rmtree(place.path, ignore_errors=True)
