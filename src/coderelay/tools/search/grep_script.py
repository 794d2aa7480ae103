"""The search process of the `grep` tool: finds the lines of files that match a regular expression.

It reads only regular files, opened beneath the session's folder without following links, so that no command that runs
meanwhile can lead the search elsewhere. It runs in a separate process, because a regular expression can take forever
and cannot be interrupted, and uses only the standard library, so that it starts at once. Each output line is path,
NUL, line number, colon, line.
"""

import os
import re
import stat
import sys
from collections.abc import Iterator

from coderelay.tools.search.file_walk import Walk, WalkedFile
from coderelay.tools.search.gitignore_rules import OPEN
from coderelay.tools.search.glob_pattern import Glob
from coderelay.workspace.files.openat import open_folder

BAD_PATTERN = 2
MOST_IN_A_FILE = 1000
_MOST_BYTES = 64 * 1024 * 1024
_LINE_CHARS = 600
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")
_LOOKS_AROUND = re.compile(r"\\[AZ]|\(\?<?[=!]")
# POSIX character classes: other search programs and models write them, but Python reads them differently.
_CLASSES = {
    "[:alpha:]": "a-zA-Z", "[:digit:]": "0-9", "[:alnum:]": "a-zA-Z0-9", "[:upper:]": "A-Z", "[:lower:]": "a-z",
    "[:space:]": r"\s", "[:blank:]": r" \t", "[:punct:]": r"!-/:-@\[-`{-~", "[:xdigit:]": "0-9A-Fa-f",
    "[:word:]": r"\w",
}  # fmt: skip
_CLASS = re.compile(r"\[:[a-z]+:\](?=(?:\[:[a-z]+:\]|[^\[\]])*\])")


def main(root: str, folder: str, file: str, pattern: str, glob: str) -> int:
    try:
        search = _Search(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        sys.stderr.write(f"{error}\n")
        return BAD_PATTERN
    places = _one(root, folder, file) if file else _all(root, folder, glob)
    found = False
    for path, data in places:
        lines = list(search.lines(data))
        if lines:
            found = True
            shown = path.encode("utf-8", "surrogateescape") + b"\0"
            sys.stdout.buffer.write(b"".join(shown + line for line in lines))
    return 0 if found else 1


def _one(root: str, folder: str, name: str) -> Iterator[tuple[str, bytes]]:
    opened = open_folder(root, folder)
    try:
        data = _read(name, opened)
    finally:
        os.close(opened)
    if data is not None:
        yield os.path.join(folder, name), data


def _all(root: str, folder: str, glob: str) -> Iterator[tuple[str, bytes]]:
    wanted = Glob(glob) if glob else None
    skipped = len(folder) + 1 if folder else 0
    for place in Walk(root, folder):
        if wanted is None or wanted.matches(place.path[skipped:]):
            data = _data(place)
            if data is not None:
                yield place.path, data


def _data(place: WalkedFile) -> bytes | None:
    return _read(place.entry.name, place.folder) if place.entry.is_file(follow_symlinks=False) else None


def _read(name: str, folder: int) -> bytes | None:
    """The content of a file; None if it is not text or cannot be read."""
    try:
        file = os.open(name, OPEN, dir_fd=folder)
    except OSError:
        return None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
            return None
        data = os.read(file, found.st_size + 1)
    except OSError:
        return None
    finally:
        os.close(file)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace").encode()
    return None if b"\0" in data else data.removeprefix(b"\xef\xbb\xbf")


class _Search:
    def __init__(self, pattern: str) -> None:
        pattern = _CLASS.sub(lambda found: _CLASSES.get(found[0], found[0]), pattern)
        self._literal = pattern.encode("utf-8", "surrogateescape") if not _SPECIAL.search(pattern) else None
        self._line = re.compile(pattern)
        self._anywhere = None if _LOOKS_AROUND.search(pattern) else re.compile(pattern, re.MULTILINE)

    def lines(self, data: bytes) -> Iterator[bytes]:
        if self._literal is not None and self._literal not in data:
            return
        if b"\r\n" in data:
            data = data.replace(b"\r\n", b"\n")
        text = data.decode("utf-8", "replace")
        if self._anywhere is not None and not self._anywhere.search(text):
            return
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        found = 0
        for number, line in enumerate(lines, 1):
            if self._line.search(line):
                yield f"{number}:{line[:_LINE_CHARS]}\n".encode()
                found += 1
                if found == MOST_IN_A_FILE:
                    return
