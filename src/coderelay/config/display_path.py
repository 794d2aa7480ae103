"""Paths and other foreign text as they are shown to people."""

import os


def display_path(path: str) -> str:
    """A path as it is shown to people: printable, with `~` for the home folder."""
    own = os.path.expanduser("~")
    return escaped(f"~{path[len(own) :]}" if path.startswith(os.path.join(own, "")) else path)


def escaped(text: str) -> str:
    """The text with all characters escaped that a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
