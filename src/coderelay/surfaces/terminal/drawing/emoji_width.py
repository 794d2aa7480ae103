"""Emoji that are made of several: prompt_toolkit counts their parts and would misplace all that follows."""

import re

_PICTURE = "\U0001f000-\U0001faff\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff"
_JOINED = re.compile(rf"\u200d[{_PICTURE}]")
_KEYCAP = re.compile(r"([0-9#*])\ufe0f?\u20e3")
_TONE_OR_VARIANT = re.compile("[\U0001f3fb-\U0001f3ff\ufe0e\ufe0f]")
_FLAG_LETTER = re.compile("[\U0001f1e6-\U0001f1ff]")


def without_wide_joins(text: str) -> str:
    """For what is painted again and again: the first person of a family, the letters of a flag, a keycap's key."""
    if text.isascii():
        return text
    text = _TONE_OR_VARIANT.sub("", _KEYCAP.sub(r"\1", text))
    return _FLAG_LETTER.sub(_letter, _JOINED.sub("", text))


def _letter(found: re.Match[str]) -> str:
    return chr(ord(found[0]) - 0x1F1E6 + ord("A"))
