"""Decides when the files of an open turn are snapshotted, so that exactly what the turn did can be undone.

Each function returns what is to be written to the log, if anything.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from msgspec.structs import replace

from coderelay.host.turn_snapshots_interface import OpenTurnFiles
from coderelay.protocol.calls import Need
from coderelay.protocol.events import TreeTaken, Waited
from coderelay.protocol.modes import mode_spec
from coderelay.protocol.session_setting_values import Mode
from coderelay.session.children import TASK
from coderelay.session.state import State
from coderelay.workspace.trees.repository_root_and_branch import root_of

_CHANGES_NOTHING = ("read", "ask")
_LARGE_INDEX = 1_000_000  # bytes; some ten thousand files


@asynccontextmanager
async def large_repository_prepared(cwd: str, files: OpenTurnFiles) -> AsyncGenerator[None]:
    """In a large repository, take a first snapshot beside the model's first answer. It takes some seconds, and those
    after it do not."""
    if not _is_large_repository(cwd):
        yield
        return
    preparing = asyncio.create_task(files().prepare(cwd))
    try:
        yield
    finally:
        preparing.cancel()
        await asyncio.wait([preparing])


def _is_large_repository(cwd: str) -> bool:
    root = root_of(cwd)
    try:
        return root is not None and os.stat(os.path.join(root, ".git", "index")).st_size > _LARGE_INDEX
    except OSError:
        return False


async def before_change(state: State, needs: Sequence[Need], files: OpenTurnFiles) -> TreeTaken | None:
    """Snapshot the files before the first change of a turn, and before its first change after a wait."""
    turn, settings = state.turn, state.settings
    if turn is None or settings is None:
        return None
    if all(changes_nothing(need, settings.mode) for need in needs):
        return None
    paths = [path for need in needs if need.kind == "edit" for path in need.paths]
    known = turn.tree
    if known is None:
        return await files().before(settings.cwd, turn.started.turn_id, paths)
    taken = await _after_wait(known, settings.cwd, files) if known.left else known
    if taken.tree and paths:
        taken = await files().keep(taken, paths)
    return taken if taken != known else None


async def before_prompt(state: State, files: OpenTurnFiles) -> TreeTaken | None:
    """Snapshot the files before an agent begins that runs its own calls. If another process began the turn, what
    changed since that one waited for people was changed by others."""
    turn, settings = state.turn, state.settings
    if turn is None or settings is None:
        return None
    if turn.tree is None:
        return await files().before(settings.cwd, turn.started.turn_id, ())
    return await _after_wait(turn.tree, settings.cwd, files) if turn.tree.left else None


def forget_wait(state: State) -> TreeTaken | None:
    """The snapshot of a turn that has changed files, unasked, while people were asked: what changed since then cannot
    be told apart, and counts as changed by the turn."""
    known = state.turn.tree if state.turn is not None else None
    return replace(known, left="") if known is not None and known.left else None


def changes_nothing(need: Need, mode: Mode) -> bool:
    """Whether a call changes no files. The changes of a child count as its parent's too."""
    if need.tool == TASK:
        return mode_spec(mode).child == "plan"
    return need.kind in _CHANGES_NOTHING and need.command is None


async def before_wait(state: State, files: OpenTurnFiles) -> TreeTaken | None:
    """Snapshot the files before the turn waits for people: undoing the turn must not undo what people change
    meanwhile."""
    known = state.turn.tree if state.turn is not None else None
    if known is None or not known.tree or known.left or state.settings is None:
        return None
    left = await files().after(state.settings.cwd, known)
    return replace(known, left=left) if left else None


async def files_left(state: State, files: OpenTurnFiles) -> str:
    """The snapshot of the files as the open turn leaves them; empty if it cannot have changed any."""
    known = state.turn.tree if state.turn is not None else None
    if known is None or not known.tree or state.settings is None:
        return ""
    return known.left or await files().after(state.settings.cwd, known)


async def _after_wait(known: TreeTaken, cwd: str, files: OpenTurnFiles) -> TreeTaken:
    found = await files().after(cwd, known)
    waited = (Waited(known.left, found),) if found and found != known.left else ()
    return replace(known, left="", waited=(*known.waited, *waited))
