"""Parses git configuration files as git does."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

_SECTION = re.compile(r'\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|(?=\n)|\Z)")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", "\\": "\\", '"': '"'}


class Setting(Struct, frozen=True):
    """One setting. `section` and `key` are in lower case. `value` is None if the key has no value, which means
    true."""

    section: str
    subsection: str
    key: str
    value: str | None

    def __str__(self) -> str:
        name = ".".join(filter(None, (self.section, self.subsection, self.key)))
        return name if self.value is None else f"{name}={self.value}"


def settings_in(text: str) -> Iterator[Setting]:
    """Yield the settings in order. Raises ValueError where git would refuse the file."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if "\0" in text:
        raise ValueError("a NUL character")
    section = subsection = ""
    at = 0
    while at < len(text):
        if text[at] in " \t\n\r":
            at += 1
        elif text[at] in "#;":
            at = _line_end(text, at)
        elif header := _SECTION.match(text, at):
            section, dot, rest = header[1].partition(".")
            subsection = rest.lower() if dot else re.sub(r"\\(.)", r"\1", header[2] or "")
            at = header.end()
        elif (named := _KEY.match(text, at)) and section:
            value, at = _value(text, named.end()) if named[2] else (None, named.end())
            yield Setting(section.lower(), subsection, named[1].lower(), value)
        else:
            raise ValueError(f"not a setting at character {at}")


def work_trees(content: bytes, git: str) -> Iterator[str]:
    """Yield the work trees that the configuration of the git folder `git` names (`core.worktree`)."""
    if b"worktree" not in content.lower():
        return
    with suppress(OSError, ValueError):  # git cannot use it either, or a running command is replacing it
        for each in settings_in(content.decode("utf-8", "surrogateescape")):
            if (each.section, each.key) == ("core", "worktree"):
                yield os.path.realpath(os.path.join(git, each.value or ""))


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _value(text: str, at: int) -> tuple[str, int]:
    value, spaces, quoted = "", "", False
    while at < len(text) and (text[at] != "\n" or quoted):
        character = text[at]
        if character == "\n":
            break
        at += 1
        if not quoted and character in " \t\r":
            spaces += character if value else ""
            continue
        if not quoted and character in "#;":
            return value, _line_end(text, at)
        value, spaces = value + spaces, ""
        if character == '"':
            quoted = not quoted
        elif character == "\\":
            escaped = text[at : at + 1]
            at += 1
            if escaped != "\n":
                if escaped not in _ESCAPES:
                    raise ValueError("an unknown escape")
                value += _ESCAPES[escaped]
        else:
            value += character
    if quoted:
        raise ValueError("a quote without an end")
    return value, at
