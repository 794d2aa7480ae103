"""The language of messages to people, one for the process: translates the English texts that stand in the code.

`--help` loads this file, so it imports nothing that English does not need.
"""

from coderelay.protocol.languages import LANGUAGES, read_language

TYPE_CHECKING = False  # like typing.TYPE_CHECKING; typing takes longer to load than this file
if TYPE_CHECKING:
    from coderelay.protocol.localized import Localized
    from coderelay.protocol.translatable import Translatable

_language = "en"
_words: dict[str, str] = {}


def speak(language: str) -> None:
    """Set the language: one of LANGUAGES; anything else means English."""
    global _language
    _language = language if language in LANGUAGES else "en"
    _words.clear()
    if _language != "en":
        _words.update(read_language(_language).texts)


def t(text: str, /, **values: object) -> str:
    """`text` in the current language, with its `{places}` filled in. A text without a translation stays English."""
    told = _words.get(text, text)
    return told.format(**values) if values else told


def localize(words: "Localized", **values: object) -> str:
    """The text of a `Localized` record in the current language, with its `{places}` filled in."""
    told = words.chinese if _language == "zh" else _words.get(words.english, words.english)
    return told.format(**values) if values else told


def retell(text: str, said: "Translatable | None" = None) -> str:
    """Translate an English text of ours that another package made, or that is in the log, by its template and values.
    Only for texts shown to people, and never for what a model or a program wrote."""
    if _language == "en":
        return text
    from coderelay.client.translate import translate  # not needed for English

    return translate(text, said, _language)
