"""A folder's name where there is little room."""

import os

_SHARE = 3


def place_name(folder: str, width: int) -> str:
    """With `~` for the person's own, and only its end if it is longer than a third of the line."""
    home = os.path.expanduser("~")
    name = f"~{folder.removeprefix(home)}" if folder == home or folder.startswith(f"{home}/") else folder
    room = max(12, width // _SHARE)
    if len(name) <= room:
        return name
    parts = name.split("/")
    while len(parts) > 1 and len("/".join(("…", *parts))) > room:
        parts.pop(0)
    return "/".join(("…", *parts))
