"""The language that people are spoken to in, one for the process. English is what stands in the code.

`--help` asks too, so this loads nothing that English can do without.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coderelay.protocol.translatable import Translatable

_words: dict[str, str] = {}


def speak(language: str) -> None:
    """`zh`, or anything else for English."""
    _words.clear()
    if language == "zh":
        from coderelay.client.chinese import WORDS  # nobody else needs them
        from coderelay.client.chinese.elsewhere import SHAPES
        from coderelay.client.old_log_texts import tool_words

        _words.update(SHAPES | tool_words() | WORDS)


def t(text: str, /, **values: object) -> str:
    """`text` in that language, with its `{places}` filled. A text that nobody has translated stays as it is."""
    told = _words.get(text, text)
    return told.format(**values) if values else told


def retell(text: str, said: "Translatable | None" = None) -> str:
    """A text of ours that was made in another room, or is in the log, by its template and values. Only for what is
    shown to people, and never for what a model or a program said."""
    if not _words:
        return text
    from coderelay.client.retelling import translate  # English has no need of it

    return translate(text, said, _words)
