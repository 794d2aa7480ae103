"""Translations that an event carries beside its English sentences, so that a page can show them in its own."""

from coderelay.client.i18n import retell, speaking
from coderelay.protocol.translatable import Translatable
from coderelay.protocol.translation_files import LANGUAGES


def retold(text: str, said: Translatable | None = None) -> dict[str, dict[str, str]]:
    """The field `retold`: the text by language, as far as there are translations. It is the same for all clients, so
    that an event is encoded once."""
    found: dict[str, str] = {}
    for language in LANGUAGES:
        with speaking(language):
            told = retell(text, said)
            if told == text:
                told = "\n".join(map(retell, text.split("\n")))
        if told != text:
            found[language] = told
    return {"retold": found} if found else {}
