"""The paths of the configuration files, and of the folders with texts for agents."""

import os

OWN_FOLDER = ".coder"
CLAUDE_FOLDER = ".claude"
FILE = "config.json"


def person_file(home: str) -> str:
    return os.path.join(home, FILE)


def folder_file(folder: str) -> str:
    return os.path.join(folder, OWN_FOLDER, FILE)


def text_folders(kind: str, *, home: str, user_home: str, folder: str) -> tuple[list[str], list[str]]:
    """The paths that may hold texts for agents (`kind`): the folder's, and the person's own. Nearest first."""
    theirs = [os.path.join(folder, name, kind) for name in (OWN_FOLDER, CLAUDE_FOLDER)]
    claude = [os.path.join(user_home, CLAUDE_FOLDER, kind)] if user_home else []
    return theirs, [os.path.join(home, kind), *claude]
