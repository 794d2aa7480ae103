"""Parses a repository's index file for its paths without running git, which may start programs of the repository."""

import os
import stat
from collections.abc import Callable, Iterator

_HEADER = 12
_MOST_BYTES = 64 * 1024 * 1024
_LONGEST_PATH = 4096
# An entry has 40 bytes before the hash of its object and two bytes of flags after it.
_BEFORE_HASH = 40
_HASHES = (20, 32)
_EXTENDED = 0x4000


class UnreadableIndex(OSError):
    """There is an index, but it cannot be read or parsed."""


def indexed_paths(folder: str, wanted: Callable[[str], bool]) -> Iterator[str]:
    """Absolute paths of the tracked files in this folder's repository whose path in it is `wanted`. Raises
    UnreadableIndex."""
    found = _find_git_folder(folder)
    if found is None:
        return
    root, git_folder = found
    names = ["index"]
    for name in names:  # a split index refers to one more file
        data = _read(os.path.join(git_folder, name))
        if data is None:
            continue
        paths, shared = _parsed(data, lambda path: wanted(os.fsdecode(path)))
        names += [f"sharedindex.{shared}"] if shared and len(names) == 1 else []
        yield from (os.path.join(root, os.fsdecode(path)) for path in paths)


def _find_git_folder(folder: str) -> tuple[str, str] | None:
    root = folder
    while True:
        beside = os.path.join(root, ".git")
        if os.path.isdir(beside):
            return root, beside
        if os.path.isfile(beside):
            line = (_read(beside) or b"").partition(b"\n")[0]
            return root, os.path.join(root, os.fsdecode(line.removeprefix(b"gitdir:").strip()))
        above = os.path.dirname(root)
        if above == root:
            return None
        root = above


def _read(path: str) -> bytes | None:
    """The content, or None if there is no such file. Only regular files are read: others may be endless or block."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:  # a NUL in the name
        raise UnreadableIndex(path) from error
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnreadableIndex(path)
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise UnreadableIndex(path)
    return data


def _parsed(data: bytes, wanted: Callable[[bytes], bool]) -> tuple[list[bytes], str]:
    """The wanted paths, and the hash of the shared index that a split index is based on, or an empty text."""
    for hash_length in _HASHES:
        paths, end = _entries(data, hash_length, wanted)
        extensions = _extensions(data, end, len(data) - hash_length) if end else None
        if extensions is not None:
            shared = extensions.get(b"link", b"")[:hash_length]
            return paths, shared.hex() if any(shared) else ""
    raise UnreadableIndex("it is not an index of a known form")


def _entries(data: bytes, hash_length: int, wanted: Callable[[bytes], bool]) -> tuple[list[bytes], int]:
    """The wanted paths and the offset after the last entry, or 0 if these bytes are not index entries."""
    version = int.from_bytes(data[4:8], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        return [], 0
    paths: list[bytes] = []
    at, path, room = _HEADER, b"", _MOST_BYTES
    for _ in range(int.from_bytes(data[8:12], "big")):
        flags_at = at + _BEFORE_HASH + hash_length
        begin = flags_at + (4 if data[flags_at] & (_EXTENDED >> 8) else 2) if flags_at < len(data) else len(data)
        kept = 0
        if version == 4:  # the prefix that a path shares with the one before it is left out
            left_out, begin = _number(data, begin)
            kept = len(path) - left_out
        end = data.find(b"\0", begin)
        if end < 0 or kept < 0 or kept + end - begin > _LONGEST_PATH or room < 0:
            return [], 0
        path = path[:kept] + data[begin:end]
        if wanted(path):
            paths.append(path)
            room -= len(path)
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
    return paths, at


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Decode a variable-length number with seven bits per byte. Returns it and the offset after it."""
    value = -1
    while at < len(data):
        value = ((value + 1) << 7) | (data[at] & 0x7F)
        at += 1
        if not data[at - 1] & 0x80 or value > _MOST_BYTES:
            break
    return value, at


def _extensions(data: bytes, at: int, end: int) -> dict[bytes, bytes] | None:
    """The index extensions by name, or None if the bytes after the entries are not extensions."""
    found: dict[bytes, bytes] = {}
    while at + 8 <= end:
        size = int.from_bytes(data[at + 4 : at + 8], "big")
        found[data[at : at + 4]] = data[at + 8 : at + 8 + size]
        at += 8 + size
    return found if at == end else None
