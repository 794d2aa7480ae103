"""Reads and writes files beneath one folder as git tree entries, through descriptors and without following links."""

import hashlib
import os
import stat
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from errno import ENOENT

from msgspec import Struct

from coderelay.workspace.files.openat import LINK_IN_THE_WAY, LOOK, make_folder, open_folder
from coderelay.workspace.trees.tree_diff import TreeEntry

LINK, PLAIN, EXECUTABLE = "120000", "100644", "100755"


class WorkTreeFile(Struct, frozen=True):
    """A file on disk. `entry` is None for a folder and for what git would not store. `mark` changes with the file."""

    mark: tuple[int, ...]
    entry: TreeEntry | None = None
    is_folder: bool = False


class WorkTreeFiles:
    """File operations beneath one folder, for undo. Paths are relative to the folder."""

    def __init__(self, folder: str, hash_name: str, most_bytes: int) -> None:
        self._folder = folder
        self._hash_name = hash_name
        self._most_bytes = most_bytes

    def look(self, path: bytes) -> WorkTreeFile | None:
        """The file, or None if nothing is there, also if a parent is not a folder."""
        with _missing_is_none(), self._parent(path) as parent:
            return self._found(parent, os.path.basename(path))
        return None

    def mark(self, path: bytes) -> tuple[int, ...] | None:
        with _missing_is_none(), self._parent(path) as parent:
            return _mark(os.lstat(os.path.basename(path), dir_fd=parent))
        return None

    def first_beneath(self, path: bytes, stays: Callable[[bytes], bool]) -> bytes | None:
        """The first path beneath a folder, at any depth, that is not a folder and for which `stays` is true."""
        for name, is_folder in self._inner(path):
            below = os.path.join(path, name)
            if is_folder:
                found = self.first_beneath(below, stays)
                if found is not None:
                    return found
            elif stays(below):
                return below
        return None

    def remove(self, path: bytes) -> None:
        with self._parent(path) as parent, suppress(FileNotFoundError):
            os.unlink(os.path.basename(path), dir_fd=parent)

    def remove_folder(self, path: bytes) -> bool:
        """Remove a folder if it is empty. Returns whether it was removed."""
        try:
            with self._parent(path) as parent:
                os.rmdir(os.path.basename(path), dir_fd=parent)
        except OSError:
            return False
        return True

    def remove_folders(self, path: bytes) -> None:
        """Remove a folder and the folders in it. Fails if it contains anything else."""
        for name, _ in self._inner(path):
            self.remove_folders(os.path.join(path, name))
        with self._parent(path) as parent:
            os.rmdir(os.path.basename(path), dir_fd=parent)

    def set_mode(self, path: bytes, mode: str) -> None:
        with self._parent(path) as parent:
            file = os.open(os.path.basename(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
            try:
                os.fchmod(file, _bits(mode, stat.S_IMODE(os.fstat(file).st_mode)))
            finally:
                os.close(file)

    def write(self, path: bytes, mode: str, pieces: Iterable[bytes]) -> None:
        """Write a file or link atomically, replacing any file. Not synced: our objects also have the content."""
        name = os.path.basename(path)
        beside = b".coder-undo-" + hashlib.sha256(path).hexdigest()[:16].encode()  # the same after a crash
        parent = make_folder(self._folder, os.fsdecode(os.path.dirname(path)), LOOK, [])
        try:
            with suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=parent)
            if mode == LINK:
                os.symlink(b"".join(pieces), beside, dir_fd=parent)
            else:
                _write_file(parent, beside, mode, _bits_of(parent, name), pieces)
            os.rename(beside, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=parent)
            raise
        finally:
            os.close(parent)

    @contextmanager
    def _parent(self, path: bytes, flags: int = LOOK) -> Generator[int]:
        folder = open_folder(self._folder, os.fsdecode(os.path.dirname(path)), flags)
        try:
            yield folder
        finally:
            os.close(folder)

    def _inner(self, path: bytes) -> list[tuple[bytes, bool]]:
        with self._parent(path + b"/", os.O_RDONLY) as folder:
            return [(os.fsencode(each.name), each.is_dir(follow_symlinks=False)) for each in os.scandir(folder)]

    def _found(self, parent: int, name: bytes) -> WorkTreeFile:
        seen = os.lstat(name, dir_fd=parent)
        if stat.S_ISDIR(seen.st_mode):
            return WorkTreeFile(_mark(seen), is_folder=True)
        if stat.S_ISLNK(seen.st_mode):
            target = os.readlink(name, dir_fd=parent)
            return WorkTreeFile(_mark(seen), TreeEntry(LINK, self._blob_id(target)))
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > self._most_bytes:
            return WorkTreeFile(_mark(seen))
        mode = EXECUTABLE if seen.st_mode & 0o100 else PLAIN
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
        except PermissionError:
            return WorkTreeFile(_mark(seen))
        with os.fdopen(file, "rb") as opened:
            content = opened.read()
        return WorkTreeFile(_mark(seen), TreeEntry(mode, self._blob_id(content)))

    def _blob_id(self, content: bytes) -> str:
        head = b"blob %d\0" % len(content)
        return hashlib.new(self._hash_name, head + content, usedforsecurity=False).hexdigest()


@contextmanager
def _missing_is_none() -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.errno != ENOENT and error.errno not in LINK_IN_THE_WAY:
            raise


def _write_file(parent: int, name: bytes, mode: str, bits: int | None, pieces: Iterable[bytes]) -> None:
    """`bits` are the permissions of the file that it will replace. For a new file, the person's umask decides."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(name, flags, 0o777 if mode == EXECUTABLE else 0o666, dir_fd=parent)
    with os.fdopen(file, "wb") as opened:
        if bits is not None:
            os.fchmod(file, _bits(mode, bits))
        opened.writelines(pieces)


def _bits_of(parent: int, name: bytes) -> int | None:
    try:
        seen = os.lstat(name, dir_fd=parent)
    except FileNotFoundError:
        return None
    return stat.S_IMODE(seen.st_mode) if stat.S_ISREG(seen.st_mode) else None


def _bits(mode: str, now: int) -> int:
    """Permissions for a git mode. Git only knows executable or not: whoever may read may execute, or nobody may."""
    return (now & ~0o111) | ((now & 0o444) >> 2 if mode == EXECUTABLE else 0)


def _mark(seen: os.stat_result) -> tuple[int, ...]:
    return seen.st_mode, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns
