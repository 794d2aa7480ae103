"""Masks private keys in PEM blocks."""

import re

_MOST_IN_A_BLOCK = 20_000
_MARK = re.compile(r"-----(BEGIN|END) (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_ONLY_KEY = re.compile(r"[ \t]*(?:\d+[\t:|]\s*)?[A-Za-z0-9+/]{16,100}={0,2}\s*")
_OF_A_KEY = re.compile(r"[A-Za-z0-9+/=]{40}")  # source code that speaks of keys has no such word
_KEY_LINE = re.compile(r"[^\n]*[A-Za-z0-9+/=]{16}[^\n]*\n?|\s*\n")


def hide_private_keys(text: str) -> str:
    """Masks PEM private keys from the BEGIN line to the END line. If one of the two was cut off, masking goes as far
    as lines look like a key."""
    parts: list[str] = []
    at = 0
    for mark in _MARK.finditer(text):
        if mark.start() < at:
            continue
        if mark[1] == "END":
            start = _start_of_key(text, at, mark.start())
            parts += [text[at:start], "[hidden secret: private key]" if start < mark.start() else ""]
            at = mark.start()
            continue
        following = _MARK.search(text, mark.end(), mark.end() + _MOST_IN_A_BLOCK)
        has_end = following is not None and following[1] == "END"
        stop = following.start() if following and has_end else _end_of_key(text, mark.end())
        if _OF_A_KEY.search(text, mark.end(), stop) is None:
            parts.append(text[at:stop])
            at = stop
            continue
        parts += [text[at : mark.end()], "[hidden secret: private key]" if stop > mark.end() else ""]
        at = following.end() if following and has_end else stop
        if following and has_end:
            parts.append(following[0])
    return "".join([*parts, text[at:]])


def _start_of_key(text: str, after: int, end: int) -> int:
    """Where the unbroken run of lines that look like key data begins, before the END line at `end`."""
    start = end
    while (line := text.rfind("\n", after, max(after, start - 1)) + 1 or after) < start:
        if not _ONLY_KEY.fullmatch(text, line, start):
            break
        start = line
    return start


def _end_of_key(text: str, at: int) -> int:
    at = text.find("\n", at) + 1 or len(text)
    while at < len(text) and (line := _KEY_LINE.match(text, at)) is not None and line.end() > at:
        at = line.end()
    return at
