"""The language of messages to people: translates the English texts that stand in the code.

The process has a language, which the command line speaks. A connection may have another one: what runs within
`speaking(language)`, and in the tasks started there, speaks that one. `--help` loads this file, so it imports nothing
that English does not need.
"""

from coderelay.protocol.translation_files import LANGUAGES, read_language

TYPE_CHECKING = False  # like typing.TYPE_CHECKING; typing takes longer to load than this file
if TYPE_CHECKING:
    from contextvars import ContextVar, Token

    from coderelay.protocol.bilingual_text import Localized
    from coderelay.protocol.errors import CoderError
    from coderelay.protocol.translatable import Translatable

_of_process = "en"
_of_context: "ContextVar[str] | None" = None  # made with the first connection that has a language of its own
_texts: dict[str, dict[str, str]] = {"en": {}}


def speak(language: str) -> None:
    """Set the language of the process: one of LANGUAGES; anything else means English."""
    global _of_process
    _of_process = _known(language)


class speaking:  # noqa: N801 - it is used like a function
    """`with speaking(language):` sets the language of one connection, for this task and those it starts. An empty
    `language` leaves it as it is."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._token: Token[str] | None = None

    def __enter__(self) -> None:
        if self._language:
            self._token = _context().set(_known(self._language))

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _context().reset(self._token)
            self._token = None


def current_language() -> str:
    return _of_process if _of_context is None else _of_context.get("") or _of_process


def t(text: str, /, **values: object) -> str:
    """`text` in the current language, with its `{places}` filled in. A text without a translation stays English."""
    told = _texts[current_language()].get(text, text)
    return told.format(**values) if values else told


def localize(words: "Localized", **values: object) -> str:
    """The text of a `Localized` record in the current language, with its `{places}` filled in."""
    language, english = current_language(), words.english
    told = words.chinese if language == "zh" else _texts[language].get(english, english)
    return told.format(**values) if values else told


def retell(text: str, said: "Translatable | None" = None) -> str:
    """Translate an English text of ours that another package made, or that is in the log, by its template and values.
    Only for texts shown to people, and never for what a model or a program wrote."""
    language = current_language()
    if language == "en":
        return text
    from coderelay.client.template_translation import translate  # not needed for English

    return translate(text, said, language)


def _known(language: str) -> str:
    """The language if it is available, otherwise English. Its texts are read the first time."""
    if language not in LANGUAGES:
        return "en"
    if language not in _texts:
        _texts[language] = read_language(language).texts
    return language


def _context() -> "ContextVar[str]":
    global _of_context
    if _of_context is None:
        from contextvars import ContextVar  # the command line speaks the language of the process

        _of_context = ContextVar("language", default="")
    return _of_context


def error_in_words(error: "CoderError") -> str:
    """The message and the hint of an error, in the language of the reader."""
    return "\n".join(retell(part) for part in (error.message, error.hint) if part)
