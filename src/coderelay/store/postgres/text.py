"""Text as PostgreSQL can keep it: it takes every character but NUL.

Bodies are JSON, in which NUL is escaped, and are kept as they are. Elsewhere (names, titles, folders) NUL is
written as ␀0, and ␀ itself, which hardly occurs, as ␀␀: two different texts stay different.
"""

import re

_MARK = "\u2400"  # ␀, the picture of NUL
_MARKED = re.compile(f"{_MARK}(.)", re.DOTALL)


def kept(text: str) -> str:
    if "\0" not in text and _MARK not in text:
        return text
    return text.replace(_MARK, _MARK * 2).replace("\0", f"{_MARK}0")


def given(text: str) -> str:
    """What `kept` was given."""
    return _MARKED.sub(lambda found: "\0" if found[1] == "0" else found[1], text) if _MARK in text else text


def can_be_kept(text: str) -> bool:
    """Not if it holds half of a character, which UTF-8 has no way to write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
