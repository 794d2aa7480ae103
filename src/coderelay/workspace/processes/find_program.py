"""Programs of the machine. Never one that a session's folder brings along: a command could write it in its sandbox,
and we would run it outside."""

import os
from collections.abc import Collection

from coderelay.workspace.files.folders import is_in


def find_program(name: str, path: str, folders: Collection[str]) -> str | None:
    """`path` is a list of folders as in PATH, `folders` are the session's, by their real names."""
    for folder in outside_path(path, folders).split(os.pathsep):
        program = os.path.join(folder, name)
        if folder and os.access(program, os.X_OK) and os.path.isfile(program) and _is_outside(program, folders):
            return program
    return None


def outside_path(path: str, folders: Collection[str]) -> str:
    """The same list without what lies in the folders, or depends on where we are."""
    return os.pathsep.join(
        each for each in path.split(os.pathsep) if os.path.isabs(each) and _is_outside(each, folders)
    )


def _is_outside(path: str, folders: Collection[str]) -> bool:
    names = (os.path.normpath(path), os.path.realpath(path))
    return not any(is_in(name, folder) for name in names for folder in folders)
