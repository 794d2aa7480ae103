"""The contract of whoever keeps the files of turns, so that a turn can be undone."""

from collections.abc import Callable, Sequence
from typing import Protocol

from coderelay.protocol.asks import By
from coderelay.protocol.events import TreeTaken, TurnUndone
from coderelay.protocol.ids import TurnId
from coderelay.protocol.session_info import FileChange, FilesDiff
from coderelay.session.state import PastTurn, State


class TurnFiles(Protocol):
    async def before(self, folder: str, turn_id: TurnId, paths: Sequence[str]) -> TreeTaken:
        """To be taken before the first call of a turn that may change something. `paths` are files that will be
        written: they are kept even if git ignores them."""
        ...

    async def keep(self, taken: TreeTaken, paths: Sequence[str]) -> TreeTaken:
        """The same, with more files in it that git ignores."""
        ...

    async def after(self, folder: str) -> str:
        """The files as a turn leaves them; empty if that cannot be known."""
        ...

    async def undo(self, turn: PastTurn, by: By) -> TurnUndone:
        """Only what still is as the turn left it. Raises CannotRun if that cannot be known."""
        ...

    async def changes_of(self, turn: PastTurn) -> tuple[FileChange, ...]:
        """The files that a turn changed, if how it found and left them is known."""
        ...

    async def diff_of(self, state: State) -> FilesDiff:
        """What the turns of a session changed, from the first to the last."""
        ...

    async def diff_of_folder(self, folder: str) -> FilesDiff:
        """Against what is checked out, untracked files included."""
        ...


OpenTurnFiles = Callable[[], TurnFiles]
"""Opened with the first change: most turns make none."""
