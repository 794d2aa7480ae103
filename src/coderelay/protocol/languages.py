"""The languages that people are spoken to in: English, which stands in the code, and each file in `languages/`.

A file holds, in sections, `texts` (what the client says, by the English in the code) and `log_messages` (what other
rooms put together in English, by its shape); `separators` join the parts of such a message. What a file lacks is said
in English; a test lists it, and fails if the file says that it is `complete`. `coder --help` reads this file, so it
imports nothing that English can do without.
"""

import os

TYPE_CHECKING = False  # as in typing, which takes longer to load than this file
if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "languages")
LANGUAGES = ("en", *sorted(name.removesuffix(".json") for name in os.listdir(_FOLDER) if name.endswith(".json")))


class LanguageFile:
    """The sections of a file are for its readers; here each part is one table."""

    def __init__(
        self, texts: dict[str, str], log_messages: dict[str, str], separators: dict[str, str], complete: bool
    ) -> None:
        self.texts = texts
        self.log_messages = log_messages
        self.separators = separators
        self.complete = complete


def read_language(name: str) -> LanguageFile:
    import json  # English has no file

    with open(os.path.join(_FOLDER, f"{name}.json"), "rb") as file:
        found = json.load(file)
    return LanguageFile(
        _entries(found, "texts"), _entries(found, "log_messages"), found.get("separators", {}), found["complete"]
    )


def locale_language(env: "Mapping[str, str]") -> str:
    """What the locale says, if that is a language we have."""
    said = next((env[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if env.get(name)), "")
    language = said[:2].lower()
    return language if language in LANGUAGES else "en"


def _entries(found: "dict[str, dict[str, dict[str, str]]]", part: str) -> dict[str, str]:
    return {text: told for section in found.get(part, {}).values() for text, told in section.items()}
