"""When the files of an open turn are looked at, so that exactly what it did can be undone.

Each function says what is to be written down, if anything is.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from coderelay.host.turn_files import OpenTurnFiles
from coderelay.protocol.calls import Need
from coderelay.protocol.events import Mode, TreeTaken, Waited
from coderelay.protocol.modes import mode_spec
from coderelay.session.children import TASK
from coderelay.session.state import State

_CHANGES_NOTHING = ("read", "ask")


async def before_change(state: State, needs: Sequence[Need], files: OpenTurnFiles) -> TreeTaken | None:
    """Before the first change of a turn, and before the first one after a wait."""
    turn, settings = state.turn, state.settings
    if turn is None or settings is None:
        return None
    if all(_changes_nothing(need, settings.mode) for need in needs):
        return None
    paths = [path for need in needs if need.kind == "edit" for path in need.paths]
    known = turn.tree
    if known is None:
        return await files().before(settings.cwd, turn.started.turn_id, paths)
    taken = await _after_wait(known, settings.cwd, files) if known.left else known
    if taken.tree and paths:
        taken = await files().keep(taken, paths)
    return taken if taken != known else None


def _changes_nothing(need: Need, mode: Mode) -> bool:
    """A child's changes are its parent's too."""
    if need.tool == TASK:
        return mode_spec(mode).child == "plan"
    return need.kind in _CHANGES_NOTHING and need.command is None


async def before_wait(state: State, files: OpenTurnFiles) -> TreeTaken | None:
    """What people change while they are waited for is not the turn's to undo."""
    known = state.turn.tree if state.turn is not None else None
    if known is None or not known.tree or known.left or state.settings is None:
        return None
    left = await files().after(state.settings.cwd)
    return replace(known, left=left) if left else None


async def files_left(state: State, files: OpenTurnFiles) -> str:
    """The files as the open turn leaves them, if it may have changed any."""
    known = state.turn.tree if state.turn is not None else None
    if known is None or not known.tree or state.settings is None:
        return ""
    return known.left or await files().after(state.settings.cwd)


async def _after_wait(known: TreeTaken, cwd: str, files: OpenTurnFiles) -> TreeTaken:
    found = await files().after(cwd)
    waited = (Waited(known.left, found),) if found and found != known.left else ()
    return replace(known, left="", waited=(*known.waited, *waited))
