"""A JSON string that comes in pieces: its value as far as it is known."""

import re

_PLAIN = re.compile(r'[^"\\]*')
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NO_CHARACTER = "\ufffd"


class JsonString:
    """Begins after the opening quote. Half an escape, or half a pair of surrogates, waits for its other half; what
    stands for no character is replaced, so that the value can always be stored."""

    def __init__(self) -> None:
        self.ended = False
        self._half = ""

    def feed(self, piece: str) -> str:
        """What this piece adds to the value. Anything behind the closing quote is left out."""
        text, at, value = self._half + piece, 0, list[str]()
        self._half = ""
        while not self.ended and at < len(text):
            plain = _PLAIN.match(text, at)
            assert plain is not None
            value.append(plain[0])
            at = plain.end()
            if text.startswith('"', at):
                self.ended = True
            elif at < len(text):
                escape = _escape(text, at)
                if escape is None:
                    self._half = text[at:]
                    break
                value.append(escape[0])
                at = escape[1]
        return "".join(value)


def _escape(text: str, at: int) -> tuple[str, int] | None:
    """The character whose escape begins here and where it ends; None if more must come to know."""
    letter = text[at + 1 : at + 2]
    if not letter:
        return None
    if letter != "u":
        return _SHORT.get(letter, letter), at + 2
    unit = _unit(text, at)
    if unit is None or not 0xD800 <= unit < 0xE000:
        return unit if unit is None else (_character(unit), at + (6 if unit >= 0 else 2))
    if unit >= 0xDC00:
        return _NO_CHARACTER, at + 6
    return _pair(text, at, unit)


def _pair(text: str, at: int, high: int) -> tuple[str, int] | None:
    follows = text[at + 6 : at + 8]
    if not r"\u".startswith(follows):
        return _NO_CHARACTER, at + 6
    low = _unit(text, at + 6) if len(follows) == 2 else None
    if low is None:
        return None
    if not 0xDC00 <= low < 0xE000:
        return _NO_CHARACTER, at + 6
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), at + 12


def _unit(text: str, at: int) -> int | None:
    """The number in `\\uXXXX`; -1 if it is none, None if it is not all there."""
    digits = text[at + 2 : at + 6]
    if _HEX.fullmatch(digits):
        return int(digits, 16)
    return None if len(digits) < 4 else -1


def _character(unit: int) -> str:
    return chr(unit) if unit >= 0 else _NO_CHARACTER
