"""File changes with their content before and after, as write, edit and patch compute and make them.

A change is computed before anything is touched, so that it can be shown, and so that several changes are made all or
none.
"""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from coderelay.policy.secrets.masking import adds_marker
from coderelay.protocol.calls import Seen
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say
from coderelay.tools.editing.text_encoding import text_file
from coderelay.workspace.files.confined_files import FileContent
from coderelay.workspace.files.path_resolution import real_path
from coderelay.workspace.workspace import Workspace

MOST_BYTES = 10 * 1024 * 1024
_PATIENCE = 5.0
_WayBack = Callable[[], Awaitable[object]]


class FileEdit(Struct, frozen=True):
    """The change of one file. `path` and `to` are absolute. Without `before` the file is new; without `after` it is
    deleted. `to` is its new path if it is moved."""

    path: str
    before: FileContent | None
    after: bytes | None
    to: str = ""

    def __post_init__(self) -> None:
        """Refuse to write the placeholder of a masked secret: a model that was shown the file without its secrets
        would overwrite them."""
        if self.after is not None and b"[hidden secret: " in self.after:
            was = self.before.data if self.before is not None else b""
            if adds_marker(was.decode(errors="replace"), self.after.decode(errors="replace")):
                raise ToolFailed(
                    "[hidden secret: …] stands for a secret that was not shown to you; leave those lines as they are "
                    "(change others with edit), or ask the person"
                )

    @property
    def texts(self) -> tuple[str, str] | None:
        """The text before and after, empty where there is no file; None if one of them is not text."""
        old, new = text_file(self.before.data if self.before else b""), text_file(self.after or b"")
        return None if old is None or new is None else (old.text, new.text)

    def tally(self) -> tuple[int, int]:
        """Return how many lines the change adds and removes."""
        texts = self.texts
        if texts is None:
            return 0, 0
        from coderelay.workspace.files.line_diff import count_changes, differences, with_ends  # at the first change

        old, new = map(with_ends, texts)
        return count_changes(differences(old, new))


def summary_of(changes: Sequence[FileEdit]) -> str:
    tallies = [change.tally() for change in changes]
    return f"+{sum(added for added, _ in tallies)} -{sum(removed for _, removed in tallies)}"


async def make(changes: Sequence[FileEdit], workspace: Workspace) -> tuple[Seen, ...]:
    """Make all changes or none, even if cancelled meanwhile. Returns the file versions that the model now knows."""
    making = asyncio.ensure_future(_make_all(changes, workspace))
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        await asyncio.wait([making], timeout=_PATIENCE)
        making.cancel()  # if an editor does not answer
        await asyncio.wait([making])
        raise


async def _make_all(changes: Sequence[FileEdit], workspace: Workspace) -> tuple[Seen, ...]:
    """Make the changes; if one fails, undo those made before."""
    known = [change for change in changes if _will_be_known(change, workspace)]
    ways_back: list[_WayBack] = []
    try:
        for change in sorted(changes, key=lambda each: each.after is None):  # deletions last
            await _make_one(change, workspace, ways_back)
    except BaseException as error:
        left = await _take_back(ways_back)
        if left and isinstance(error, ToolFailed):
            raise ToolFailed(
                say(
                    "{problem}; and what was done before could not be taken back: {names}",
                    problem=error.message,
                    names=left,
                )
            ) from error
        raise
    return tuple(seen for change in known for seen in _seen(change, workspace))


async def current_content(path: str, workspace: Workspace) -> FileContent | None:
    """The current content of a file that is to be changed; None if it does not exist."""
    return _whole(path, await workspace.files.read(path, MOST_BYTES)) if workspace.disk.fingerprint(path) else None


def current_on_disk(path: str, workspace: Workspace) -> FileContent | None:
    """Like `current_content`, but from the disk, for callers that cannot await."""
    return _whole(path, workspace.disk.read(path, MOST_BYTES)) if workspace.disk.fingerprint(path) else None


def check_known(path: str, content: FileContent, workspace: Workspace) -> None:
    """Raise ToolFailed if the file has changed since the model read it. `path` is absolute."""
    with without_hidden_quotations(path, workspace):
        workspace.known.check(path, content, shown=workspace.disk.relative(path))


@contextmanager
def without_hidden_quotations(path: str, workspace: Workspace) -> Generator[None]:
    """Remove quotations of a hidden file from a ToolFailed. Its message quotes lines of the file from the second line
    on, to show why a change does not fit."""
    try:
        yield
    except ToolFailed as failed:
        if "\n" in failed.message and is_hidden(path, workspace):
            told = say("{problem} (not shown: to read it must be asked about)", problem=failed.summary)
            raise ToolFailed(told) from None
        raise


def is_hidden(path: str, workspace: Workspace) -> bool:
    """Whether reading the file must be asked about. The target of a symbolic link counts as well."""
    try:
        return bool(workspace.hidden([path, real_path(path)]))
    except OSError:  # the target of the link cannot be determined
        return True


async def _make_one(change: FileEdit, workspace: Workspace, ways_back: list[_WayBack]) -> None:
    """Make one change. Every operation adds a function to `ways_back` that undoes it."""
    files, before, after = workspace.files, change.before, change.after
    path, to = (_nameable(each, workspace) for each in (change.path, change.to))
    if before is None:
        assert after is not None, "what was not there cannot go"
        await files.write(path, after, expected="")
        ways_back.append(lambda: files.remove(path))
    elif after is None:
        await files.remove(path, expected=before.fingerprint)
        ways_back.append(lambda: files.write(path, before.data, expected=""))
    else:
        if to:
            await files.move(path, to)
            ways_back.append(lambda: files.move(to, path))
        if after != before.data:
            await files.write(to or path, after, expected=before.fingerprint)
            ways_back.append(lambda: files.write(to or path, before.data))


async def _take_back(ways_back: Sequence[_WayBack]) -> str:
    """Undo the operations in reverse order. Returns what could not be undone."""
    left: list[str] = []
    for go in reversed(ways_back):
        try:
            await go()
        except ToolFailed as failed:
            left.append(failed.message)
    return "; ".join(left)


def _nameable(path: str, workspace: Workspace) -> str:
    """The relative path, because refusals repeat it; the absolute path if the short form would mean something
    else."""
    short = workspace.disk.relative(path) if path else ""
    return path if short.startswith("~") else short


def _will_be_known(change: FileEdit, workspace: Workspace) -> bool:
    """Whether the model knows the file after the change. A model that edits one place of a file it never read does
    not."""
    return change.before is None or not workspace.known.never_read(change.path)


def _seen(change: FileEdit, workspace: Workspace) -> list[Seen]:
    gone = [Seen(change.path, "")] if change.after is None or change.to else []
    here = [workspace.disk.seen(change.to or change.path)] if change.after is not None else []
    for seen in [*gone, *here]:
        workspace.known.keep(seen.path, seen.mark, change.after or b"")
    return [*gone, *here]


def _whole(path: str, content: FileContent) -> FileContent:
    if content.size > len(content.data):
        raise ToolFailed(say("{path} is too large to be edited: {count} bytes", path=path, count=content.size))
    return content
