"""The language that people are spoken to in, one for the process. English is what stands in the code.

`--help` asks too, so this loads nothing that English can do without.
"""

_words: dict[str, str] = {}


def speak(language: str) -> None:
    """`zh`, or anything else for English."""
    _words.clear()
    if language == "zh":
        from coderelay.client.chinese import WORDS  # nobody else needs them

        _words.update(WORDS)


def t(text: str, /, **values: object) -> str:
    """`text` in that language, with its `{places}` filled. A text that nobody has translated stays as it is."""
    told = _words.get(text, text)
    return told.format(**values) if values else told


def retell(text: str) -> str:
    """A text that was put together in English elsewhere: in the log, in an error, by another room. Only for what is
    shown to people, and never for what a model or a program said."""
    if not _words:
        return text
    from coderelay.client.retelling import in_chinese  # English has no need of it

    return in_chinese().tell(text)
