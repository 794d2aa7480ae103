"""The language that people are spoken to in, one for the process. English is what stands in the code."""

from typing import Literal

Language = Literal["en", "zh"]

_words: dict[str, str] = {}


def speak(language: Language) -> None:
    _words.clear()
    if language == "zh":
        from coderelay.client.chinese import WORDS  # nobody else needs them

        _words.update(WORDS)


def t(text: str, /, **values: object) -> str:
    """`text` in that language, with its `{places}` filled. A text that nobody has translated stays as it is."""
    told = _words.get(text, text)
    return told.format(**values) if values else told
