"""The paths in the index of a repository, read without git: git may start programs that a repository names."""

import os
import re
from collections.abc import Callable, Iterator

_HEADER = 12
_ENTRY = 62
_MOST_BYTES = 64 * 1024 * 1024


def indexed_paths(folder: str, wanted: Callable[[str], bool]) -> Iterator[str]:
    """Absolute paths of what git has for this folder's repository, of those whose last name is wanted."""
    found = _find_index(folder)
    if found is None:
        return
    root, index = found
    try:
        if os.path.getsize(index) > _MOST_BYTES:
            return
        with open(index, "rb") as file:
            data = file.read()
    except OSError:
        return
    version = int.from_bytes(data[4:8], "big")
    names = _names(data, version) if version in (2, 3) else _loose_names(data)
    yield from (os.path.join(root, name) for name in names if wanted(name.rpartition("/")[2]))


def _find_index(folder: str) -> tuple[str, str] | None:
    root = folder
    while True:
        beside = os.path.join(root, ".git")
        if os.path.isdir(beside):
            return root, os.path.join(beside, "index")
        if os.path.isfile(beside):
            with open(beside, "rb") as file:
                line = file.read(4096).partition(b"\n")[0]
            return root, os.path.join(root, os.fsdecode(line.removeprefix(b"gitdir:").strip()), "index")
        above = os.path.dirname(root)
        if above == root:
            return None
        root = above


def _names(data: bytes, version: int) -> Iterator[str]:
    at = _HEADER
    for _ in range(int.from_bytes(data[8:12], "big")):
        flags = int.from_bytes(data[at + 60 : at + 62], "big")
        begin = at + _ENTRY + (2 if version == 3 and flags & 0x4000 else 0)
        end = data.find(b"\0", begin)
        if end < 0:
            return
        yield os.fsdecode(data[begin:end])
        at += (end - at + 8) // 8 * 8


def _loose_names(data: bytes) -> Iterator[str]:
    """Version 4 leaves out what two paths have in common; the last names are there nearly always."""
    yield from (os.fsdecode(found) for found in re.findall(rb"[\x21-\x7e]+(?=\0)", data))
