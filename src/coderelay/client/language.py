"""The language that people are spoken to in, one for the process. English is what stands in the code.

`--help` asks too, so this loads nothing that English can do without.
"""

from coderelay.protocol.languages import LANGUAGES, read_language

TYPE_CHECKING = False  # as in typing, which takes longer to load than this file
if TYPE_CHECKING:
    from coderelay.protocol.localized import Localized
    from coderelay.protocol.translatable import Translatable

_language = "en"
_words: dict[str, str] = {}


def speak(language: str) -> None:
    """One of LANGUAGES, or anything else for English."""
    global _language
    _language = language if language in LANGUAGES else "en"
    _words.clear()
    if _language != "en":
        _words.update(read_language(_language).texts)


def t(text: str, /, **values: object) -> str:
    """`text` in that language, with its `{places}` filled. A text that nobody has translated stays as it is."""
    told = _words.get(text, text)
    return told.format(**values) if values else told


def localize(words: "Localized", **values: object) -> str:
    """The text of a record in that language, with its `{places}` filled."""
    told = words.chinese if _language == "zh" else _words.get(words.english, words.english)
    return told.format(**values) if values else told


def retell(text: str, said: "Translatable | None" = None) -> str:
    """A text of ours that was made in another room, or is in the log, by its template and values. Only for what is
    shown to people, and never for what a model or a program said."""
    if _language == "en":
        return text
    from coderelay.client.translate import translate  # English has no need of it

    return translate(text, said, _language)
