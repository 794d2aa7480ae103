"""The paths of the configuration files, and of the folders with texts for agents."""

import os

OWN_FOLDER = ".coder"
CLAUDE_FOLDER = ".claude"
AGENTS_FOLDER = ".agents"
"""Where Codex and other agents keep skills."""
FILE = "config.json"


def person_file(home: str) -> str:
    return os.path.join(home, FILE)


def folder_file(folder: str) -> str:
    return os.path.join(folder, OWN_FOLDER, FILE)


def text_folders(kind: str, *, home: str, user_home: str, folder: str) -> tuple[list[str], list[str]]:
    """The paths that may hold texts for agents (`kind`): the folder's, and the person's own. Nearest first."""
    shared = (CLAUDE_FOLDER, AGENTS_FOLDER) if kind == "skills" else (CLAUDE_FOLDER,)
    theirs = [os.path.join(folder, name, kind) for name in (OWN_FOLDER, *shared)]
    own = [os.path.join(user_home, name, kind) for name in shared] if user_home else []
    return theirs, [os.path.join(home, kind), *own]
