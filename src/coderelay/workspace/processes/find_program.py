"""Finds installed programs on PATH, but never one inside a session's folders.

A command in the sandbox could write such a program, and we would run it outside of the sandbox.
"""

import os
from collections.abc import Collection

from coderelay.workspace.files.path_resolution import is_in


def find_program(name: str, path: str, folders: Collection[str]) -> str | None:
    """`path` is a list of folders as in PATH; `folders` are the real paths of the session's folders."""
    for folder in filter(os.path.isabs, path.split(os.pathsep)):
        program = os.path.join(folder, name)
        is_there = os.access(program, os.X_OK) and os.path.isfile(program)
        if is_there and _is_outside(folder, folders) and _is_outside(program, folders):  # slow, and few are there
            return program
    return None


def outside_path(path: str, folders: Collection[str]) -> str:
    """The PATH list without relative entries and entries inside the folders."""
    return os.pathsep.join(
        each for each in path.split(os.pathsep) if os.path.isabs(each) and _is_outside(each, folders)
    )


def _is_outside(path: str, folders: Collection[str]) -> bool:
    names = (os.path.normpath(path), os.path.realpath(path))
    return not any(is_in(name, folder) for name in names for folder in folders)
