"""Separates thoughts between tags from the text of an answer."""

from typing import Literal

_OPENINGS = ("<think>", "<thinking>", "<thought>")
_MOST_BLANKS = 1024  # held back at most; more would be read again with every piece


class ThinkTags:
    """Separates thoughts in tags from text, wherever the stream splits them. A tag after the first word of the answer
    is ordinary text, because code may mention tags."""

    def __init__(self) -> None:
        self._at: Literal["beginning", "thought", "gap", "text"] = "beginning"
        self._closing = ""
        self._begun = False  # the first word of the thought has arrived
        self._held = ""  # what may still become a tag

    def feed(self, text: str) -> tuple[str, str]:
        """The thinking and the text that this piece adds."""
        match self._at:
            case "text":
                return "", text
            case "gap":
                return "", self._after_gap(text)
            case "thought":
                return self._think(text)
            case "beginning":
                return self._begin(text)

    def end(self) -> tuple[str, str]:
        """What was held back. A thought without a closing tag is still a thought."""
        held, self._held = self._held, ""
        return (held, "") if self._at == "thought" else ("", held)

    def _begin(self, text: str) -> tuple[str, str]:
        text = self._held + text
        begun = text.lstrip()
        opening = next((tag for tag in _OPENINGS if begun.startswith(tag)), "")
        if opening:
            self._at, self._held, self._closing = "thought", "", f"</{opening[1:]}"
            return self._think(begun[len(opening) :])
        if len(text) <= _MOST_BLANKS and any(tag.startswith(begun) for tag in _OPENINGS):
            self._held = text
            return "", ""
        self._at, self._held = "text", ""
        return "", text

    def _think(self, text: str) -> tuple[str, str]:
        text = self._held + text
        if not self._begun:
            text = text.lstrip()
            self._begun = bool(text)
        thinking, closing, rest = text.partition(self._closing)
        if closing:
            self._at, self._held = "gap", ""
            return thinking, self._after_gap(rest)
        kept = _beginning_of(self._closing, text)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept], ""

    def _after_gap(self, text: str) -> str:
        text = text.lstrip()
        if text:
            self._at = "text"
        return text


def _beginning_of(tag: str, text: str) -> int:
    """How many characters at the end of the text may be the beginning of the tag."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
