"""File access for tools, confined to the session's folders despite `..`, symbolic links and races.

Reads follow links as long as the target is beneath one of the folders. Writes go to regular files only and never
through a link. Every refusal is a ToolFailed that a model can act on, and has changed nothing.
"""

import os
import re
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from errno import ELOOP, ENOENT
from functools import cache
from typing import Literal, TypeVar

from msgspec import Struct

from coderelay.protocol.autorun_files import END_OF_NAME as _END
from coderelay.protocol.autorun_files import folded
from coderelay.protocol.calls import Seen
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say
from coderelay.workspace.files.atomic_write import create, move_to_free_name, replace
from coderelay.workspace.files.fingerprint import check_expected, fingerprint_of, saved_fingerprint
from coderelay.workspace.files.openat import LINK_IN_THE_WAY, make_folder, open_folder, remove_folders
from coderelay.workspace.files.path_resolution import WorkspaceFolders, part, shown

T = TypeVar("T")
# Opening must not block on a FIFO, and must not make a terminal our controlling terminal.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_GROWN = 1 << 16  # chunk size for data beyond the size that the file had when it was opened
_PROTECTED = (
    (
        rf"/(?:\.git|git~\d){_END}",
        "belongs to git and is not written by tools; use the git command",
    ),
    (
        rf"/(?:\.coder|coder~\d){_END}",
        "belongs to coder itself and is not written by tools",
    ),
    (
        rf"/(?:\.claude|claude~\d){_END}/settings[^/]*\.json{_END}",
        "says what an agent may do and is not written by tools; ask the person to change it",
    ),
)


class FileContent(Struct, frozen=True):
    """The beginning of a file as `data`, and the `size` of the whole. `fingerprint` changes with the file."""

    data: bytes
    size: int
    fingerprint: str
    mode: int


class FolderEntry(Struct, frozen=True):
    name: str
    kind: Literal["file", "folder", "link", "other"]
    size: int


class ConfinedFiles(WorkspaceFolders):
    """Blocking file operations beneath the session's folders. Refusals are ToolFailed."""

    def read(self, path: str, limit: int) -> FileContent:
        """The first `limit` bytes of a regular file."""
        with _refusals("read", path):
            return self._through_links(path, lambda full: self._read(full, path, limit))

    def write(self, path: str, data: bytes, *, expected: str | None = None) -> bool:
        """Replace a file atomically or create it, with missing folders. Its mode is kept. Returns whether it is new.

        `expected` is the fingerprint that the file must still have. If it is empty, the file must not exist.
        """
        with self._changing("write", path) as full, self._made_folder_of(full) as (folder, name):
            before = status(folder, name)
            check_replaceable(path, before, expected)
            if before is None:
                create(folder, name, data)
            else:
                replace(folder, name, data, before, lambda: check_replaceable(path, status(folder, name), expected))
            return before is None

    def check_write(self, path: str, *, expected: str | None = None) -> bool:
        """Refuse what `write` would refuse, without changing anything. Returns whether the file would be new."""
        with self._changing("write", path) as full:
            found = self._status(full)
            check_replaceable(path, found, expected)
            return found is None

    def remove(self, path: str, *, expected: str | None = None) -> None:
        with self._changing("remove", path) as full, self._folder_of(full) as (folder, name):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            check_regular(path, found)
            check_expected(path, found, expected)
            os.unlink(name, dir_fd=folder)

    def move(self, path: str, to: str) -> None:
        """Move a file to a name that must be free."""
        with self._changing("move", path) as full, self._folder_of(full) as (folder, name):
            check_regular(path, os.stat(name, dir_fd=folder, follow_symlinks=False))
            with self._changing("make", to) as to_full, self._made_folder_of(to_full) as (there, new):
                move_to_free_name(folder, name, there, new)

    def list(self, path: str) -> list[FolderEntry]:
        """The entries of a folder, sorted by name."""
        with _refusals("list", path):
            folder = self._through_links(path, lambda full: open_folder(*self._beneath(full), os.O_RDONLY))
            try:
                with os.scandir(folder) as found:
                    return sorted(map(_entry, found), key=lambda entry: entry.name)
            finally:
                os.close(folder)

    def fingerprint(self, path: str) -> str:
        """A text that changes whenever the file does. Empty if there is no such file."""
        try:
            return fingerprint_of(os.stat(self.locate(path)))
        except (OSError, ToolFailed):
            return ""

    def has_changed(self, seen: Seen) -> bool:
        """Whether the file on disk has changed since it was seen. Unsaved text in an editor does not count."""
        return self.fingerprint(seen.path) != saved_fingerprint(seen.mark)

    def seen(self, path: str) -> Seen:
        """The current version of a file, for `has_changed` to compare with later."""
        return Seen(self.locate(path), self.fingerprint(path))

    def is_protected(self, path: str) -> str | None:
        """Why tools may not write this path, or None if they may."""
        full = self.locate(path)
        return why_protected(part(full, self.innermost(full)))

    def _through_links(self, path: str, act: Callable[[str], T]) -> T:
        full = self.locate(path)
        try:
            return act(full)
        except OSError as error:
            if error.errno not in LINK_IN_THE_WAY or (real := self.target(path)) == full:
                raise
            return act(real)

    @contextmanager
    def _changing(self, verb: str, path: str) -> Generator[str]:
        full = self.locate(path)
        why = self.is_protected(full)
        if why is not None:
            raise ToolFailed(say("{path} {problem}", path=shown(path), problem=why))
        with _refusals(verb, path):
            try:
                yield full
            except OSError as error:
                if error.errno not in LINK_IN_THE_WAY or (real := self.target(path)) == full:
                    raise
                where = self.relative(real)
                raise ToolFailed(
                    say(
                        "{path} leads through a link to {target}; use that path if you mean it",
                        path=shown(path),
                        target=where,
                    )
                ) from error

    def _beneath(self, full: str) -> tuple[str, str]:
        top = self.top_of(full)
        assert top is not None, "what is not in a folder is not located"
        return top, part(full, top)

    @contextmanager
    def _folder_of(self, full: str) -> Generator[tuple[int, str]]:
        top, path = self._beneath(full)
        above, name = os.path.split(path)
        folder = open_folder(top, above)
        try:
            yield folder, name or "."
        finally:
            os.close(folder)

    @contextmanager
    def _made_folder_of(self, full: str) -> Generator[tuple[int, str]]:
        """Open the parent folder. Missing folders are created, and removed again if the caller's work fails."""
        top, path = self._beneath(full)
        above, name = os.path.split(path)
        made: list[str] = []
        try:
            try:
                folder = open_folder(top, above, os.O_RDONLY)
            except FileNotFoundError:
                folder = make_folder(top, above, os.O_RDONLY, made)
            try:
                yield folder, name or "."
            finally:
                os.close(folder)
        except BaseException:
            remove_folders(top, made)
            raise

    def _read(self, full: str, path: str, limit: int) -> FileContent:
        with self._folder_of(full) as (folder, name):
            # The type is checked before opening, because merely opening a device can have an effect.
            check_regular(path, os.stat(name, dir_fd=folder, follow_symlinks=False))
            file = os.open(name, _READ, dir_fd=folder)
        try:
            found = os.fstat(file)
            check_regular(path, found)
            return FileContent(
                _first_bytes(file, limit, found.st_size),
                found.st_size,
                fingerprint_of(found),
                stat.S_IMODE(found.st_mode),
            )
        finally:
            os.close(file)

    def _status(self, full: str) -> os.stat_result | None:
        try:
            with self._folder_of(full) as (folder, name):
                return status(folder, name)
        except FileNotFoundError:
            return None


_CANNOT = {
    "read": "cannot read {path}: {why}",
    "write": "cannot write {path}: {why}",
    "list": "cannot list {path}: {why}",
    "remove": "cannot remove {path}: {why}",
    "move": "cannot move {path}: {why}",
    "make": "cannot make {path}: {why}",
}


@contextmanager
def _refusals(verb: str, path: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        message = say(_CANNOT[verb], path=shown(path), why=error.strerror)
        raise ToolFailed(message, missing=error.errno == ENOENT) from error


def _first_bytes(file: int, limit: int, size: int) -> bytes:
    data = os.read(file, min(limit, size))
    while len(data) < limit and (more := os.read(file, min(limit - len(data), _GROWN))):
        data += more
    return data


def _entry(found: os.DirEntry[str]) -> FolderEntry:
    if found.is_symlink():
        return FolderEntry(found.name, "link", 0)
    if found.is_dir(follow_symlinks=False):
        return FolderEntry(found.name, "folder", 0)
    if not found.is_file(follow_symlinks=False):
        return FolderEntry(found.name, "other", 0)
    try:
        return FolderEntry(found.name, "file", found.stat(follow_symlinks=False).st_size)
    except OSError:  # gone since the folder was read
        return FolderEntry(found.name, "file", 0)


def why_protected(path: str) -> str | None:
    """Why tools may not write `path`, which is relative to a session folder: that folder's own name is not judged."""
    plain = folded(path)
    return next((why for pattern, why in _PROTECTED if re.search(pattern, plain)), None)


_OTHERS = {
    stat.S_IFIFO: say("a FIFO"),
    stat.S_IFSOCK: say("a socket"),
    stat.S_IFCHR: say("a device"),
    stat.S_IFBLK: say("a device"),
}


def status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def check_regular(path: str, found: os.stat_result) -> None:
    """Refuse what is not a regular file. A link raises an OSError instead, so that the caller can follow it."""
    if stat.S_ISLNK(found.st_mode):
        raise OSError(ELOOP, os.strerror(ELOOP))
    if stat.S_ISDIR(found.st_mode):
        raise ToolFailed(say("{path} is a folder", path=shown(path)))
    if not stat.S_ISREG(found.st_mode):
        kind = _OTHERS.get(stat.S_IFMT(found.st_mode), say("something else"))
        raise ToolFailed(say("{path} is {kind}, not a regular file", path=shown(path), kind=kind))
    if found.st_dev in _kernel_devices():
        raise ToolFailed(say("{path} is made up by the kernel, not a regular file", path=shown(path)))


def check_replaceable(path: str, found: os.stat_result | None, expected: str | None) -> None:
    if found is not None:
        check_regular(path, found)
        _check_single(path, found.st_nlink)
    check_expected(path, found, expected)


def _check_single(path: str, names: int) -> None:
    if names > 1:
        raise ToolFailed(
            say(
                "{path} is one of {count} hard links to a file, and the others would keep the old content; "
                "remove it first if it is to become a file of its own",
                path=shown(path),
                count=names,
            )
        )


@cache
def _kernel_devices() -> frozenset[int]:
    """Devices of /proc and /sys. Reading /proc would reveal what our own process hides from commands."""
    here = os.stat("/").st_dev
    found = {os.stat(path).st_dev for path in ("/proc", "/sys") if os.path.isdir(path)}
    return frozenset(found - {here})  # where nothing is mounted, it is an ordinary folder
