"""Files as they are and as they are to be: what write, edit and patch have in common.

A change is worked out before anything is touched, so that it can be shown, and so that of several either all are made
or none.
"""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from coderelay.policy.secrets.masking import adds_marker
from coderelay.protocol.calls import Seen
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say
from coderelay.tools.editing.text_file import text_file
from coderelay.workspace.files.disk import FileContent
from coderelay.workspace.files.folders import real_path
from coderelay.workspace.files.line_diff import count_changes, differences, with_ends
from coderelay.workspace.workspace import Workspace

MOST_BYTES = 10 * 1024 * 1024
_PATIENCE = 5.0
_WayBack = Callable[[], Awaitable[object]]


class FileChange(Struct, frozen=True):
    """`path` and `to` are full names. No `before`: the file is new; no `after`: it goes. `to` is its new name."""

    path: str
    before: FileContent | None
    after: bytes | None
    to: str = ""

    def __post_init__(self) -> None:
        """Whoever was shown a file without its secrets must not write it back so."""
        if self.after is not None and b"[hidden secret: " in self.after:
            was = self.before.data if self.before is not None else b""
            if adds_marker(was.decode(errors="replace"), self.after.decode(errors="replace")):
                raise ToolFailed(
                    "[hidden secret: …] stands for a secret that was not shown to you; leave those lines as they are "
                    "(change others with edit), or ask the person"
                )

    @property
    def texts(self) -> tuple[str, str] | None:
        """Before and after, empty for no file; None if it is not text that changes."""
        old, new = text_file(self.before.data if self.before else b""), text_file(self.after or b"")
        return None if old is None or new is None else (old.text, new.text)

    def tally(self) -> tuple[int, int]:
        """How many lines it adds and removes."""
        texts = self.texts
        if texts is None:
            return 0, 0
        old, new = map(with_ends, texts)
        return count_changes(differences(old, new))


def summed_up(changes: Sequence[FileChange]) -> str:
    tallies = [change.tally() for change in changes]
    return f"+{sum(added for added, _ in tallies)} -{sum(removed for _, removed in tallies)}"


async def make(changes: Sequence[FileChange], workspace: Workspace) -> tuple[Seen, ...]:
    """All of them, or none, even if we are cancelled meanwhile. Returns what the model knows now."""
    making = asyncio.ensure_future(_make_all(changes, workspace))
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        await asyncio.wait([making], timeout=_PATIENCE)
        making.cancel()  # if an editor does not answer
        await asyncio.wait([making])
        raise


async def _make_all(changes: Sequence[FileChange], workspace: Workspace) -> tuple[Seen, ...]:
    """What was done is taken back if something fails."""
    known = [change for change in changes if _will_be_known(change, workspace)]
    ways_back: list[_WayBack] = []
    try:
        for change in sorted(changes, key=lambda each: each.after is None):  # what goes, goes last
            await _make_one(change, workspace, ways_back)
    except BaseException as error:
        left = await _take_back(ways_back)
        if left and isinstance(error, ToolFailed):
            raise ToolFailed(f"{error.message}; and what was done before could not be taken back: {left}") from error
        raise
    return tuple(seen for change in known for seen in _seen(change, workspace))


async def current(path: str, workspace: Workspace) -> FileContent | None:
    """A file that is to be changed, as it is; None if there is none."""
    return _whole(path, await workspace.files.read(path, MOST_BYTES)) if workspace.disk.mark(path) else None


def current_on_disk(path: str, workspace: Workspace) -> FileContent | None:
    """The same where nothing can be awaited."""
    return _whole(path, workspace.disk.read(path, MOST_BYTES)) if workspace.disk.mark(path) else None


def check_known(path: str, content: FileContent, workspace: Workspace) -> None:
    """`path` is the full name."""
    with quoting(path, workspace):
        workspace.known.check(path, content, shown=workspace.disk.relative(path))


@contextmanager
def quoting(path: str, workspace: Workspace) -> Generator[None]:
    """Why a change does not fit is said with lines of the file, from the second line on: not of a hidden one."""
    try:
        yield
    except ToolFailed as failed:
        first, _, lines = failed.message.partition("\n")
        if lines and is_hidden(path, workspace):
            raise ToolFailed(f"{first.rstrip(':')} (not shown: to read it must be asked about)") from None
        raise


def is_hidden(path: str, workspace: Workspace) -> bool:
    """Where a link leads counts as well."""
    try:
        return bool(workspace.hidden([path, real_path(path)]))
    except OSError:  # where it leads cannot be told
        return True


async def _make_one(change: FileChange, workspace: Workspace, ways_back: list[_WayBack]) -> None:
    """Each thing that is done adds how to take it back."""
    files, before, after = workspace.files, change.before, change.after
    path, to = (_nameable(each, workspace) for each in (change.path, change.to))
    if before is None:
        assert after is not None, "what was not there cannot go"
        await files.write(path, after, expected="")
        ways_back.append(lambda: files.remove(path))
    elif after is None:
        await files.remove(path, expected=before.mark)
        ways_back.append(lambda: files.write(path, before.data, expected=""))
    else:
        if to:
            await files.move(path, to)
            ways_back.append(lambda: files.move(to, path))
        if after != before.data:
            await files.write(to or path, after, expected=before.mark)
            ways_back.append(lambda: files.write(to or path, before.data))


async def _take_back(ways_back: Sequence[_WayBack]) -> str:
    """What could not be taken back."""
    left: list[str] = []
    for go in reversed(ways_back):
        try:
            await go()
        except ToolFailed as failed:
            left.append(failed.message)
    return "; ".join(left)


def _nameable(path: str, workspace: Workspace) -> str:
    """Short, as refusals repeat it, unless it would mean something else then."""
    short = workspace.disk.relative(path) if path else ""
    return path if short.startswith("~") else short


def _will_be_known(change: FileChange, workspace: Workspace) -> bool:
    """Whoever changes one place of a file that they never read does not know it then."""
    return change.before is None or not workspace.known.never_read(change.path)


def _seen(change: FileChange, workspace: Workspace) -> list[Seen]:
    gone = [Seen(change.path, "")] if change.after is None or change.to else []
    here = [workspace.disk.seen(change.to or change.path)] if change.after is not None else []
    for seen in [*gone, *here]:
        workspace.known.keep(seen.path, seen.mark, change.after or b"")
    return [*gone, *here]


def _whole(path: str, content: FileContent) -> FileContent:
    if content.size > len(content.data):
        raise ToolFailed(
            say("{path} has {count} bytes, which is too much to change it here", path=path, count=content.size)
        )
    return content
