"""Translates finished English texts by finding the template that matches their fixed parts.

It is needed for logs written before texts were stored with their template and values, and for the errors of argparse,
which come without a template. Every text of ours that is made today has one; see `coderelay.protocol.translatable`.
"""

import re
from functools import cache

from coderelay.client.builtin_tool_specs_loader import tool_specs
from coderelay.protocol.tool_specs import first_sentence
from coderelay.protocol.translation_files import read_language

_PLACE = re.compile(r"\{(\w+)\}")
_BETWEEN = ("; ", ", ")
_NUMBERS = ("count", "number", "files", "code", "seconds", "status", "done", "all")
_VARIABLE = ("variable",)
_WORDS = ("mode", "preset")
_NUMBER, _NAME, _WORD, _TEXT = r"([\d.,]+)", "([A-Z][A-Z0-9_]+)", "([a-z-]+)", "(.*?)"
_MOST_CHARACTERS = 2000
_LEAST_FIXED = 7
_TOLD_TOO = ("reason", "problem", "rest")  # places whose values are such texts, and translated too


def recognise(text: str, language: str) -> str:
    """The text in that language; a text that is not recognised is returned unchanged."""
    return _texts_in(language).translate(text)


@cache
def _texts_in(language: str) -> "OldTexts":
    file = read_language(language)
    return OldTexts(file.log_messages | tool_words(language), file.separators)


def tool_words(language: str) -> dict[str, str]:
    """The translations in the specs of the tools, by their English texts; the specs have Chinese only."""
    words: dict[str, str] = {}
    for spec in tool_specs() if language == "zh" else ():
        words |= spec.chinese_results
        words[first_sentence(spec.description)] = spec.chinese
    return words


class OldTexts:
    def __init__(self, texts: dict[str, str], separators: dict[str, str]) -> None:
        self._separators = separators
        self._known = {text: told for text, told in texts.items() if not _PLACE.search(text)}
        self._shapes = [_Shape(text, told) for text, told in texts.items() if _has_fixed_words(text)]
        self._shapes.sort(key=lambda shape: -shape.weight)  # the template with the most fixed text wins
        self._openings = [shape for shape in self._shapes if shape.is_opening]

    def translate(self, text: str) -> str:
        """The translation; a text that is not recognised is returned unchanged."""
        if len(text) > _MOST_CHARACTERS:
            return text  # none of our own texts is this long
        told = self._whole(text)
        if told is None and "\n" in text:
            return "\n".join(self._whole(line) or line for line in text.split("\n"))
        return text if told is None else told

    def _whole(self, text: str) -> str | None:
        if (told := self._known.get(text)) is not None:
            return told
        return (
            self._in_its_shape(text, self._openings)
            or self._part_by_part(text)
            or self._in_its_shape(text, self._shapes)
        )

    def _in_its_shape(self, text: str, shapes: "list[_Shape]") -> str | None:
        for shape in shapes:
            if (values := shape.values_in(text)) is not None:
                retold = {
                    name: self.translate(value) if name in _TOLD_TOO else value for name, value in values.items()
                }
                return shape.told.format(**retold)
        return None

    def _part_by_part(self, text: str) -> str | None:
        """Translate a list of texts part by part, if every part is recognised."""
        for mark in _BETWEEN:
            if mark in text:
                told = [self._whole(part) for part in text.split(mark)]
                if None not in told:
                    return self._separators.get(mark, mark).join(filter(None, told))
        return None


def _has_fixed_words(text: str) -> bool:
    """Whether the template has enough fixed words besides its placeholders. A template with few fixed words, or with
    placeholders alone, would match foreign texts."""
    places, fixed = _PLACE.findall(text), _PLACE.sub("", text)
    is_narrow = any(name in (*_NUMBERS, *_VARIABLE, *_WORDS) for name in places)
    return bool(places) and any(map(str.isalpha, fixed)) and (is_narrow or len(fixed) >= _LEAST_FIXED)


class _Shape:
    def __init__(self, text: str, told: str) -> None:
        self.told = told
        self._parts = _PLACE.split(text)[::2]
        self._names = _PLACE.findall(text)
        self._pattern: re.Pattern[str] | None = None
        self.weight = sum(map(len, self._parts))
        self.is_opening = bool(self._parts[0]) and not self._parts[-1] and self._names[-1] in _TOLD_TOO
        """Whether the template begins with fixed text and ends with a translated place, which takes all that follows,
        separators included."""

    def values_in(self, text: str) -> dict[str, str] | None:
        if not text.startswith(self._parts[0]) or not all(part in text for part in self._parts):
            return None
        if self._pattern is None:
            whole = zip(map(re.escape, self._parts), [*map(_place, self._names), ""], strict=True)
            self._pattern = re.compile("".join(part + place for part, place in whole))
        found = self._pattern.fullmatch(text)
        return None if found is None else dict(zip(self._names, found.groups(), strict=True))


def _place(name: str) -> str:
    """The pattern for the value of a place."""
    if name in _NUMBERS:
        return _NUMBER
    return _NAME if name in _VARIABLE else _WORD if name in _WORDS else _TEXT
