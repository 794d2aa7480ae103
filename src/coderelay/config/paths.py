"""Paths of the configuration files, and reading them; somebody else may have filled the folder's files."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager

from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say

OWN_FOLDER = ".coder"
CLAUDE_FOLDER = ".claude"
FILE = "config.json"
MOST_BYTES = 1024 * 1024

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # non-blocking: a FIFO must not hold us up
_ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def person_file(home: str) -> str:
    return os.path.join(home, FILE)


def folder_file(folder: str) -> str:
    return os.path.join(folder, OWN_FOLDER, FILE)


def text_folders(kind: str, *, home: str, user_home: str, folder: str) -> tuple[list[str], list[str]]:
    """The paths that may hold texts for agents (`kind`): the folder's, and the person's own. Nearest first."""
    theirs = [os.path.join(folder, name, kind) for name in (OWN_FOLDER, CLAUDE_FOLDER)]
    claude = [os.path.join(user_home, CLAUDE_FOLDER, kind)] if user_home else []
    return theirs, [os.path.join(home, kind), *claude]


def read_person_file(home: str) -> bytes | None:
    """None if there is no file. It may be a link: people keep such files elsewhere."""
    path = person_file(home)
    try:
        return _read(os.open(path, _READ), path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error) from error


def read_folder_file(folder: str) -> bytes | None:
    """None if there is no file. Raises BadInput if it is not a small regular file beneath the folder."""
    path = folder_file(folder)
    try:
        with beneath(folder, path) as (parent, name):
            return _read(os.open(name, _READ | os.O_NOFOLLOW, dir_fd=parent), path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error) from error


@contextmanager
def beneath(folder: str, path: str) -> Generator[tuple[int, str], None, None]:
    """Open the directory that really holds `path`; gives its descriptor, and the name of the file in it. Links are
    followed only inside `folder`, and not even a link that is put there meanwhile leads out of it."""
    top = os.path.realpath(folder)
    real = os.path.realpath(path)
    if not real.startswith(os.path.join(top, "")):
        raise BadInput(f"{shown(path)} leads out of the folder, to {shown(real)}", "Put the file itself there.")
    *between, name = os.path.relpath(real, top).split(os.sep)
    parent = os.open(top, _ENTER)
    try:
        for each in between:
            inner = os.open(each, _ENTER | os.O_NOFOLLOW, dir_fd=parent)
            os.close(parent)
            parent = inner
        yield parent, name
    finally:
        os.close(parent)


def shown(path: str) -> str:
    """A path as it is shown to people: printable, with `~` for the home folder."""
    own = os.path.expanduser("~")
    return printable(f"~{path[len(own) :]}" if path.startswith(os.path.join(own, "")) else path)


def printable(text: str) -> str:
    """The text with all characters escaped that a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _read(file: int, path: str) -> bytes:
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise BadInput(f"{shown(path)} is not a regular file")
        with os.fdopen(file, "rb", closefd=False) as opened:
            content = opened.read(MOST_BYTES + 1)
    finally:
        os.close(file)
    if len(content) > MOST_BYTES:
        raise BadInput(f"{shown(path)} is larger than {MOST_BYTES} bytes, which no configuration is")
    return content


def _unreadable(path: str, error: OSError) -> BadInput:
    return BadInput(say("{path} cannot be read: {why}", path=shown(path), why=error.strerror))
