"""Masks secrets in a text that grows while it is shown."""

import re
from collections.abc import Callable

LEFT_OUT = "\n…\n"
"""Stands for text that was left out because it came too fast."""
_LONGEST_LINE = 16_000
_LONGEST_WORD = 4_000
_LIKE_A_KEY = re.compile("[A-Za-z0-9]{3}")  # a row of dots is no key
_FIRST_WORD = re.compile(r"\A\S*\s*")
_OPENED_BLOCK = re.compile(r"(-----BEGIN [A-Z0-9 ]{1,80}-----)\s*\Z")


class MaskedLines:
    """Masks growing text. It keeps the unfinished line, so that a key is found even if it arrives in pieces."""

    def __init__(self, hide: Callable[[str], str]) -> None:
        self._hide = hide
        self._line = ""
        self._done = 0  # how much of the line has been masked
        self._shown = ""  # the masked form of that part

    def grow(self, text: str) -> str:
        """Add text, and return what can be shown now."""
        self._line += text
        end = max(self._done, _end_of_clear_text(self._line))
        whole = self._hide(self._line[:end])
        fresh = whole[_alike(self._shown, whole) :]  # the beginning of a key may have been shown already
        self._begin_anew(end)
        return fresh

    def after_gap(self, text: str) -> str:
        """Go on after output that was left out. The first word is dropped: it may be the end of a longer one."""
        self._line, self._done, self._shown = "", 0, ""
        return LEFT_OUT + self.grow(_FIRST_WORD.sub("", text))

    def _begin_anew(self, end: int) -> None:
        """Forget the text before the current line, or before a key block that has no end yet."""
        start = self._line.rfind("\n", 0, end) + 1
        block = self._line.rfind("-----BEGIN ", 0, end)
        if block >= 0 and "-----END " not in self._line[block:end]:
            start = min(start, block)
        if end - start > _LONGEST_LINE:
            start = end
        self._line, self._done = self._line[start:], end - start
        self._shown = self._hide(self._line[: self._done])


def _alike(one: str, other: str) -> int:
    """The length of the common prefix."""
    if other.startswith(one):
        return len(one)
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))


def _end_of_clear_text(line: str) -> int:
    """Where text starts that may be the beginning of a key: the last word, or what follows the first line of a key
    block."""
    end = len(line) - len(_maybe_half(line))
    opened = _OPENED_BLOCK.search(line, max(0, end - _LONGEST_WORD), end)
    return end if opened is None else opened.end(1)


def _maybe_half(line: str) -> str:
    """The last word, if it may be the beginning of a key."""
    if not line or line[-1].isspace():
        return ""
    word = line.rsplit(None, 1)[-1]
    return word if len(word) <= _LONGEST_WORD and _LIKE_A_KEY.search(word) else ""
