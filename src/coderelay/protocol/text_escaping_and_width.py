"""Text for display: untrusted text with its control characters escaped, paths with `~`, and columns of a terminal."""

import os
import unicodedata
from unicodedata import combining, east_asian_width

_KEPT = "\n\t\u200c\u200d"  # the last two are the joiners of emoji and some scripts


class _Characters(dict[int, str]):
    """A table for `str.translate` that looks up each character once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = _escaped(character) if _is_invisible_control(character) else character
        return self[code]


_characters = _Characters()


def visible(text: str) -> str:
    """Escape invisible control characters: no text may hide or repaint what a person sees and decides on."""
    return text if text.isprintable() else text.translate(_characters)


def _is_invisible_control(character: str) -> bool:
    """Whether it is invisible but has an effect: part of an escape sequence, or a mark for the writing direction."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _KEPT


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def escaped(text: str) -> str:
    """Escape everything that is not printable, line ends too: the text stays on one line."""
    return text if text.isprintable() else "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def display_path(path: str) -> str:
    """A path for people: printable, with `~` for the home folder."""
    own = os.path.expanduser("~")
    return escaped(f"~{path[len(own) :]}" if path.startswith(os.path.join(own, "")) else path)


def width_of(text: str) -> int:
    """The columns that the text takes in a terminal."""
    return sum(0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in text)


def padded(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))
