"""Translate texts that other packages made, by their template and values."""

from collections.abc import Mapping
from functools import cache

from coderelay.client.old_log_text_translation import recognise, tool_words
from coderelay.protocol.translatable import Sentence, Translatable, fill, with_template
from coderelay.protocol.translation_files import read_language


def translate(text: str, said: Translatable | None, language: str) -> str:
    told = with_template(text, said)
    if isinstance(told, Sentence):
        return _fill(told.said, language)
    return _whole(text, language)


@cache
def _templates(language: str) -> Mapping[str, str]:
    """The templates in one language, by the English ones."""
    file = read_language(language)
    return file.log_messages | tool_words(language) | file.texts


def _whole(text: str, language: str) -> str:
    """Translate a text that has no values. Such a text is its own template, unless it was stored before texts had
    templates."""
    return _templates(language).get(text) or recognise(text, language)


def _fill(said: Translatable, language: str) -> str:
    if not said.values:
        return _whole(said.template, language)
    values = {name: each if isinstance(each, str) else _fill(each, language) for name, each in said.values.items()}
    return fill(_templates(language).get(said.template, said.template), values)
