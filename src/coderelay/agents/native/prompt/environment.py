"""Where the model is: what a person would see at a glance."""

import os
import time
from collections.abc import Sequence

from coderelay.protocol.content import Note
from coderelay.workspace.trees.git_head import branch_of


def environment_note(cwd: str, folders: Sequence[str]) -> Note:
    system = os.uname()
    lines = [
        f"Working folder: {cwd}",
        *(f"Also at hand: {folder}" for folder in folders),
        f"System: {system.sysname} {system.release} ({system.machine})",
        f"Date: {time.strftime('%Y-%m-%d')}",
        f"Git: {branch_of(os.path.realpath(cwd)) or 'not a repository'}",
    ]
    return Note("environment", "\n".join(["<environment>", *lines, "</environment>"]))
