"""Interface for snapshots of the files of turns, so that a turn can be undone and its diff shown."""

from collections.abc import Callable, Sequence
from typing import Protocol

from coderelay.protocol.asks import By
from coderelay.protocol.events import TreeTaken, TurnUndone
from coderelay.protocol.ids import TurnId
from coderelay.protocol.query_results import FileChange, FilesDiff
from coderelay.session.state import PastTurn, State


class TurnSnapshots(Protocol):
    async def prepare(self, folder: str) -> None:
        """Make the first snapshot of a folder ahead of time; those after it are fast."""
        ...

    async def before(self, folder: str, turn_id: TurnId, paths: Sequence[str]) -> TreeTaken:
        """Snapshot the folder; called before the first call of a turn that may change something. `paths` are files
        that will be written: they are kept even if git ignores them."""
        ...

    async def keep(self, taken: TreeTaken, paths: Sequence[str]) -> TreeTaken:
        """The same snapshot, with more files in it that git ignores."""
        ...

    async def after(self, folder: str, taken: TreeTaken) -> str:
        """The snapshot of the files as a turn leaves them, whose first one is `taken`; empty if that cannot be
        known."""
        ...

    async def undo(self, turn: PastTurn, by: By) -> TurnUndone:
        """Undo the changes of a turn in those files that still are as it left them. Raises CannotRun if that cannot
        be known."""
        ...

    async def changes_of(self, turn: PastTurn) -> tuple[FileChange, ...]:
        """The files that a turn changed, if the snapshots before and after it are known."""
        ...

    async def diff_of(self, state: State) -> FilesDiff:
        """The diff of all turns of a session in its present folder, from before the first to after the last."""
        ...

    async def diff_of_turn(self, turn: PastTurn) -> FilesDiff:
        """The diff of what one turn did itself. Raises CannotRun if that cannot be known."""
        ...

    async def diff_of_folder(self, folder: str) -> FilesDiff:
        """The diff of the folder against the checked-out commit, untracked files included."""
        ...


OpenTurnFiles = Callable[[], TurnSnapshots]
"""Opens the snapshots, with the first change of a turn: most turns make none."""
