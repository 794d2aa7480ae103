"""Shortens the path of a folder for the prompt."""

import os

_SHARE = 3


def short_path(folder: str, width: int) -> str:
    """A folder for the prompt: `~` for the home folder, and only the end of a path longer than a third of the
    line."""
    home = os.path.expanduser("~")
    name = f"~{folder.removeprefix(home)}" if folder == home or folder.startswith(f"{home}/") else folder
    room = max(12, width // _SHARE)
    if len(name) <= room:
        return name
    parts = name.split("/")
    while len(parts) > 1 and len("/".join(("…", *parts))) > room:
        parts.pop(0)
    return "/".join(("…", *parts))
