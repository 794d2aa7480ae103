"""The languages of the user interface: English, which is in the code, and one JSON file for each other language.

A file in `languages/` holds `texts` (messages of the client, keyed by the English text in the code) and
`log_messages` (messages that other packages compose in English, keyed by their templates), both divided into
sections; `separators` join the parts of such a message, and `answers` are words for the English words that answer an
ask. The section `logs of older versions` keeps the messages that only old logs contain. A message that is missing in
a file is shown in English. A test lists the missing ones, and fails if the file claims to be `complete`.
`coder --help` loads this file, so it imports nothing that English does not need.

To add a language, run `CODER_NEW_LANGUAGE=fr pytest tests/language/test_new_language.py`, which writes
`languages/fr.json`, and `web/src/language/fr.json` for the web app, with all texts in English. Translate both, run
`python -m tools.web_types`, and name the language in `docs/configuration.md`. The Chinese of some texts is not in
`zh.json` but beside their English in the code (`Localized`, `ToolSpec.chinese`). The guide and the workflow of a turn
speak English and Chinese only; in another language they are English.
"""

import os

TYPE_CHECKING = False  # instead of typing.TYPE_CHECKING: importing typing takes longer than loading this file
if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "languages")
LANGUAGES = ("en", *sorted(name.removesuffix(".json") for name in os.listdir(_FOLDER) if name.endswith(".json")))


class LanguageFile:
    """The content of a language file. Its sections only help people who read the file; here they are merged into one
    table."""

    def __init__(
        self,
        texts: dict[str, str],
        log_messages: dict[str, str],
        separators: dict[str, str],
        answers: dict[str, str],
        complete: bool,
    ) -> None:
        self.texts = texts
        self.log_messages = log_messages
        self.separators = separators
        self.answers = answers  # the English word for each word
        self.complete = complete


def read_language(name: str) -> LanguageFile:
    import json  # not needed for English, which has no file

    with open(os.path.join(_FOLDER, f"{name}.json"), "rb") as file:
        found = json.load(file)
    answers = {word: english for english, words in found.get("answers", {}).items() for word in words}
    texts, log_messages = _entries(found, "texts"), _entries(found, "log_messages")
    return LanguageFile(texts, log_messages, found.get("separators", {}), answers, found["complete"])


def locale_language(env: "Mapping[str, str]") -> str:
    """The language of the locale if it is available, otherwise English."""
    said = next((env[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if env.get(name)), "")
    language = said[:2].lower()
    return language if language in LANGUAGES else "en"


def _entries(found: "dict[str, dict[str, dict[str, str]]]", part: str) -> dict[str, str]:
    return {text: told for section in found.get(part, {}).values() for text, told in section.items()}
