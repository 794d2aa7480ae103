"""TurnSnapshots with git: snapshots of the files of a turn as git trees, to compare and to undo what it changed."""

import os
from collections.abc import Sequence

import msgspec

from coderelay.protocol.asks import By
from coderelay.protocol.errors import CannotRun, CoderError
from coderelay.protocol.events import TreeTaken, TurnUndone
from coderelay.protocol.ids import TurnId
from coderelay.protocol.query_results import FileChange, FilesDiff
from coderelay.protocol.translatable import say
from coderelay.session.state import PastTurn, State
from coderelay.workspace.trees.snapshots import NoSnapshot, Snapshot, SnapshotTaker
from coderelay.workspace.trees.undo import undo

_MOST_NAMED = 20


class GitTurnFiles:
    """Implements `TurnSnapshots` with git trees. The workspace keeps the trees; the log holds only their names, which
    mean nothing to the session."""

    def __init__(self, trees: SnapshotTaker) -> None:
        self._trees = trees

    async def prepare(self, folder: str) -> None:
        await self._trees.take(folder)

    async def before(self, folder: str, turn_id: TurnId, paths: Sequence[str]) -> TreeTaken:
        taken = await self._trees.take(folder, _beneath(folder, paths))
        if isinstance(taken, NoSnapshot):
            return TreeTaken(turn_id=turn_id, problem=taken.reason)
        left_out = tuple(each.path for each in taken.left_out[:_MOST_NAMED])
        return TreeTaken(turn_id=turn_id, tree=_encode(taken), left_out=left_out)

    async def keep(self, taken: TreeTaken, paths: Sequence[str]) -> TreeTaken:
        tree = _decode(taken.tree)
        try:
            wider = await self._trees.keep(tree, _beneath(tree.folder, paths))
        except (CoderError, OSError):
            return taken  # the change must not fail because of this; an undo says what it does not cover
        return taken if wider == tree else msgspec.structs.replace(taken, tree=_encode(wider))

    async def after(self, folder: str, taken: TreeTaken) -> str:
        first = _decode(taken.tree) if taken.tree else None
        found = await self._trees.take(folder, like=first)
        return "" if isinstance(found, NoSnapshot) else _encode(found)

    async def undo(self, turn: PastTurn, by: By) -> TurnUndone:
        if turn.problem:
            raise CannotRun(say("the last turn cannot be undone: {problem}", problem=turn.problem))
        if not turn.before:
            return TurnUndone(turn_id=turn.turn_id, by=by)  # it changed nothing
        if not turn.after:
            raise CannotRun(
                "no snapshot of the files after the last turn: it was interrupted, or git failed",
                "`git diff` shows what has changed.",
            )
        done = [await undo(self._trees, before, after) for before, after in _own_parts(turn)]
        stay = {each.path: each.why for part in done for each in (*part.conflicts, *part.skipped)}
        restored = {path for part in done for path in part.restored} - stay.keys()
        removed = {path for part in done for path in part.removed} - stay.keys()
        return TurnUndone(
            turn_id=turn.turn_id,
            by=by,
            restored=tuple(sorted(restored - removed)),
            removed=tuple(sorted(removed)),
            conflicts=tuple(say("{path}: {problem}", path=path, problem=why) for path, why in sorted(stay.items())),
        )

    async def changes_of(self, turn: PastTurn) -> tuple[FileChange, ...]:
        found: dict[str, FileChange] = {}
        for before, after in _own_parts(turn):
            found |= {each.path: each for each in await self._trees.changes(before, after)}
        return tuple(found[path] for path in sorted(found))

    async def diff_of(self, state: State) -> FilesDiff:
        cwd = state.settings.cwd if state.settings is not None else ""
        known = [turn for turn in state.past if turn.before and turn.after and turn.cwd == cwd]
        if not known:
            return FilesDiff()
        trees, before, after = self._trees, _decode(known[0].before), _decode(known[-1].after)
        changes = await trees.changes(before, after)
        return FilesDiff(await trees.diff(before, after), tuple(changes))

    async def diff_of_turn(self, turn: PastTurn) -> FilesDiff:
        if turn.problem or (turn.before and not turn.after):
            why = turn.problem or "it was cut off, or git failed at its end"
            raise CannotRun(say("what this turn changed is not known: {problem}", problem=why))
        if not turn.before:
            return FilesDiff()
        parts = [await self._trees.diff(before, after) for before, after in reversed(_own_parts(turn))]
        return FilesDiff("".join(parts), await self.changes_of(turn))

    async def diff_of_folder(self, folder: str) -> FilesDiff:
        return await self._trees.worktree_changes(folder)


def _own_parts(turn: PastTurn) -> list[tuple[Snapshot, Snapshot]]:
    """The pairs of snapshots between which the turn itself acted, the latest first. Between two pairs it waited, and
    somebody else changed files."""
    starts = [turn.before, *(each.found for each in turn.waited)]
    ends = [*(each.left for each in turn.waited), turn.after]
    return [(_decode(before), _decode(after)) for before, after in zip(starts, ends, strict=True)][::-1]


def _beneath(folder: str, paths: Sequence[str]) -> list[str]:
    """The paths relative to the folder. The paths are real ones, so the folder is resolved first."""
    real = os.path.realpath(folder)
    return [os.path.relpath(path, real) for path in paths if path.startswith(os.path.join(real, ""))]


def _encode(tree: Snapshot) -> str:
    return msgspec.json.encode(tree).decode()


def _decode(text: str) -> Snapshot:
    return msgspec.json.decode(text, type=Snapshot)
