"""Texts that other rooms made, told in another language by their template and values."""

from collections.abc import Mapping

from coderelay.client.old_log_texts import recognise
from coderelay.protocol.translatable import Sentence, Translatable, fill, with_template


def translate(text: str, said: Translatable | None, words: Mapping[str, str]) -> str:
    """`words` has the templates of one language by those in English."""
    told = with_template(text, said)
    if isinstance(told, Sentence):
        return _fill(told.said, words)
    return _whole(text, words)


def _whole(text: str, words: Mapping[str, str]) -> str:
    """A text without values is its own template, unless it was finished elsewhere."""
    return words.get(text) or recognise(text)


def _fill(said: Translatable, words: Mapping[str, str]) -> str:
    if not said.values:
        return _whole(said.template, words)
    values = {name: each if isinstance(each, str) else _fill(each, words) for name, each in said.values.items()}
    return fill(words.get(said.template, said.template), values)
