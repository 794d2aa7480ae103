"""Reads the configuration files. Somebody else may have filled the folder's file, so it is opened with care."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager

from coderelay.config.config_paths import folder_file, person_file
from coderelay.protocol.errors import BadInput
from coderelay.protocol.text_escaping_and_width import display_path
from coderelay.protocol.translatable import say

_MOST_BYTES = 1024 * 1024
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # non-blocking: a FIFO must not hold us up
_ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


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
    return read_beneath(folder, folder_file(folder))


def read_beneath(folder: str, path: str) -> bytes | None:
    """None if there is no file. Raises BadInput if it is not a small regular file beneath the folder."""
    try:
        with open_beneath(folder, path) as (parent, name):
            return _read(os.open(name, _READ | os.O_NOFOLLOW, dir_fd=parent), path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error) from error


@contextmanager
def open_beneath(folder: str, path: str) -> Generator[tuple[int, str], None, None]:
    """Open the directory that really holds `path`; gives its descriptor, and the name of the file in it. Links are
    followed only inside `folder`, and not even a link that is put there meanwhile leads out of it."""
    top = os.path.realpath(folder)
    real = os.path.realpath(path)
    if not real.startswith(os.path.join(top, "")):
        raise BadInput(
            say(
                "{path} is a link that leads out of the folder, to {target}",
                path=display_path(path),
                target=display_path(real),
            ),
            "Put the file itself there, not a link.",
        )
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


def _read(file: int, path: str) -> bytes:
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise BadInput(say("{path} is not a regular file", path=display_path(path)))
        with os.fdopen(file, "rb", closefd=False) as opened:
            content = opened.read(_MOST_BYTES + 1)
    finally:
        os.close(file)
    if len(content) > _MOST_BYTES:
        raise BadInput(
            say(
                "{path} is larger than {count} bytes, which is too large for a configuration file",
                path=display_path(path),
                count=_MOST_BYTES,
            )
        )
    return content


def _unreadable(path: str, error: OSError) -> BadInput:
    return BadInput(say("cannot read {path}: {why}", path=display_path(path), why=error.strerror))
