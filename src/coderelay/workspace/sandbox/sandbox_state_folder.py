"""The private folder of one sandbox, with its cleanup after a crash.

It holds the temporary files of the sandbox's commands, a list of the folders that were created in the workspace for
it, and, while commands run, the state of the workspace before them.

It lies below the person's `~/.coder`, which no command sees. The owner holds the lock in it while it lives; what a
dead owner left is cleared away by the next process that creates such a folder, or that starts (`recover`). What had
to be restored then is recorded until somebody can tell the person.
"""

import fcntl
import os
import shutil
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from errno import EACCES, EEXIST, ELOOP, ENOENT, ENOTDIR, EPERM, EROFS

from coderelay.workspace.files.openat import folder_of
from coderelay.workspace.sandbox.git_folder_search import GitSearch
from coderelay.workspace.sandbox.guarded_file_restore import StateBefore, decoded, encoded, restore_state

_BLANKS = {"": "", ".json": "{}\n", ".xml": "<settings/>\n"}
_NAME_LENGTH = 32
_MADE, _LOCK, _TEMPORARY, _BLANK, _BEFORE = "made", "lock", "tmp", "blank", "before.json"
_RESTORED = "mended"
_UNSURE_SECONDS = 120.0  # longer than the interval between two checks of a large workspace


class PrivateFolder:
    """A private folder that this process owns and holds the lock of."""

    def __init__(self, home: str) -> None:
        """`home` is coder's home folder."""
        self._all = os.path.join(home, "sandboxes")
        self.path = os.path.join(self._all, os.urandom(_NAME_LENGTH // 2).hex())
        os.makedirs(self._all, mode=0o700, exist_ok=True)
        with _alone(self._all):
            _clear_dead(self._all)
            os.mkdir(self.path, mode=0o700)
            self._lock = os.open(os.path.join(self.path, _LOCK), os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.temporary = os.path.join(self.path, _TEMPORARY)
        os.mkdir(self.temporary, mode=0o700)
        for suffix, text in _BLANKS.items():
            _write(os.path.join(self.path, _BLANK + suffix), text)

    def blank(self, path: str) -> str:
        """Return an empty file that a program which expects the file at `path` can still parse."""
        suffix = os.path.splitext(path)[1]
        return os.path.join(self.path, _BLANK + (suffix if suffix in _BLANKS else ""))

    def make_folders(self, paths: Iterable[str]) -> None:
        """Create empty folders where nothing exists, for as long as any sandbox needs them. Paths that cannot be
        written are skipped."""
        with _alone(self._all):
            made = set(_made(self.path))
            others = {path for each in self._others() for path in _made(each)}
            wanted = [path for path in paths if path not in made and (path in others or not os.path.lexists(path))]
            if not wanted:
                return
            _write(os.path.join(self.path, _MADE), "".join(f"{path}\0" for path in [*made, *wanted]))
            for path in wanted:
                _make(path)

    def remove_folders(self) -> None:
        """Remove the folders that were created; everything else stays."""
        with _alone(self._all):
            _clear_made(self._all, self.path)
            _write(os.path.join(self.path, _MADE), "")

    def remember(self, before: StateBefore) -> None:
        """Save the state of the workspace. Must be called before a command may change anything."""
        _write(os.path.join(self.path, _BEFORE), encoded(before))

    def note_alive(self) -> None:
        """Must be called repeatedly while commands run: after a crash, a change made long after the last call is not
        attributed to them."""
        with suppress(FileNotFoundError):
            os.utime(os.path.join(self.path, _BEFORE))

    def forget(self) -> None:
        """Delete the saved state, when no command runs any more and their changes have been undone."""
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(self.path, _BEFORE))

    def note_untold(self, restored: Sequence[str]) -> None:
        """Record the restored paths that nobody has been told of. If the owner dies, the next start reports them."""
        _write(os.path.join(self.path, _RESTORED), "".join(f"{each}\0" for each in restored))

    def remove(self) -> None:
        with _alone(self._all):
            _clear(self._all, self.path)
        os.close(self._lock)

    def _others(self) -> list[str]:
        return [path for path in _private_folders(self._all) if path != self.path]


def recover(home: str) -> list[str]:
    """Clear away what dead owners left. Returns the paths that were restored since the last call, to be reported to
    the person."""
    everything = os.path.join(home, "sandboxes")
    try:
        if not any(len(name) == _NAME_LENGTH or name == _RESTORED for name in os.listdir(everything)):
            return []
        with _alone(everything):
            _clear_dead(everything)
            restored = _listed(os.path.join(everything, _RESTORED))
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(everything, _RESTORED))
            return restored
    except OSError:  # the folder is missing or cannot be written, so nothing can run in a sandbox either
        return []


def _clear_dead(everything: str) -> None:
    for each in _private_folders(everything):
        if not _is_alive(each):
            _clear(everything, each)


def _clear(everything: str, folder: str) -> None:
    restored = [*_listed(os.path.join(folder, _RESTORED)), *_restore(folder)]
    if restored:
        path = os.path.join(everything, _RESTORED)
        _write(path, "".join(f"{each}\0" for each in dict.fromkeys([*_listed(path), *restored])))
    _clear_made(everything, folder)
    with suppress(RecursionError):  # endlessly nested folders; they are private, and only take space
        shutil.rmtree(folder, ignore_errors=True)


def _restore(folder: str) -> Sequence[str]:
    """Undo what commands changed in the workspace, if their owner died before it could. The commands ended with their
    owner; the person may have worked on for days since."""
    try:
        with open(os.path.join(folder, _BEFORE), encoding="utf-8") as file:
            before, until = decoded(file.read()), os.fstat(file.fileno()).st_mtime + _UNSURE_SECONDS
    except (FileNotFoundError, ValueError):  # no command ran, or the owner died while saving it, before one could
        return ()
    return restore_state(before, GitSearch(before.searched_folders, before.lent), until).paths


def _clear_made(everything: str, folder: str) -> None:
    others = [each for each in _private_folders(everything) if each != folder and _is_alive(each)]
    needed = {path for each in others for path in _made(each)}
    for path in _made(folder):
        if path not in needed:
            _remove_empty(path)


def _private_folders(everything: str) -> list[str]:
    return [os.path.join(everything, name) for name in os.listdir(everything) if len(name) == _NAME_LENGTH]


def _make(path: str) -> None:
    try:
        with folder_of(path) as (folder, name):
            os.mkdir(name, mode=0o755, dir_fd=folder)
    except OSError as error:
        if error.errno not in (EEXIST, EACCES, EPERM, EROFS, ENOENT, ENOTDIR, ELOOP):
            raise


def _remove_empty(path: str) -> None:
    """Remove a folder with the empty folders that commands may have created in it, but nothing that has any
    content."""
    with (
        suppress(OSError, RecursionError),
        folder_of(path) as (above, name),
    ):  # somebody has changed it, or it is endlessly nested
        for _, folders, _, folder in os.fwalk(name, topdown=False, dir_fd=above):
            for each in folders:
                with suppress(OSError):  # it is not empty
                    os.rmdir(each, dir_fd=folder)
        os.rmdir(name, dir_fd=above)


def _made(folder: str) -> list[str]:
    return _listed(os.path.join(folder, _MADE))


def _listed(file_name: str) -> list[str]:
    try:
        with open(file_name, encoding="utf-8", errors="surrogateescape") as file:
            return [path for path in file.read().split("\0") if path]
    except FileNotFoundError:
        return []


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)


def _is_alive(folder: str) -> bool:
    try:
        lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(lock)


@contextmanager
def _alone(folder: str) -> Generator[None]:
    lock = os.open(os.path.join(folder, ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
