"""Make untrusted text safe to show (control characters and direction marks are escaped); measure text width."""

import unicodedata

_KEPT = "\n\t\u200c\u200d"  # the last two are the joiners of emoji and some scripts


class _Characters(dict[int, str]):
    """A table for `str.translate` that looks up each character once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = _escaped(character) if _acts_unseen(character) else character
        return self[code]


_characters = _Characters()


def visible(text: str) -> str:
    """Escape invisible control characters: no text may hide or repaint what a person sees and decides on."""
    return text if text.isprintable() else text.translate(_characters)


def _acts_unseen(character: str) -> bool:
    """Whether it is invisible but has an effect: part of an escape sequence, or a mark for the writing direction."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _KEPT


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()
