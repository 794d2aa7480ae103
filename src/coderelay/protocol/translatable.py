"""Messages for people that can be translated: an English text that remembers its template and values.

Packages below the surfaces write `say("{path} does not exist", path=path)`. The result is an ordinary English string
that remembers its template and values, so it can be the message of an error or the reason of a verdict. A stored
struct keeps the plain English text, and the template and values beside it in `said`. A surface translates it into the
person's language; see `coderelay.client.i18n`.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import force_setattr

_PLACE = re.compile(r"\{(\w+)\}")
TEXTS_AMONG_VALUES = ("reason", "problem", "rest")
"""Values with these names are themselves texts to translate. All other values are names, numbers and quoted text."""


class Translatable(Struct, frozen=True, omit_defaults=True):
    """A template with named placeholders, like `{path} does not exist`, and the values for them."""

    template: str
    values: dict[str, "str | Translatable"] = {}

    @property
    def english(self) -> str:
        return fill(self.template, {name: _english(value) for name, value in self.values.items()})


class Sentence(str):
    """An English text that remembers its template and values."""

    __slots__ = ("said",)
    said: Translatable

    def __new__(cls, said: Translatable) -> "Sentence":
        made = super().__new__(cls, said.english)
        made.said = said
        return made


def say(template: str, /, **values: object) -> Sentence:
    return Sentence(Translatable(template, {name: _value(name, value) for name, value in values.items()}))


def fill(template: str, values: Mapping[str, str]) -> str:
    """A placeholder without a value stays as it is, because the template may have come from a log."""
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), template)


def join_texts(mark: str, texts: Iterable[str]) -> str:
    """Join texts into one that can still be translated, with `mark` (`; `, `, ` or a line break) between them."""
    *before, last = [text for text in texts if text] or [""]
    for text in reversed(before):
        last = Sentence(Translatable(f"{{first}}{mark}{{rest}}", {"first": _text(text), "rest": _text(last)}))
    return last


def apply_to_values(change: Callable[[str], str], text: str) -> str:
    """`change(text)`, but with its template, if it has one: then only the values are changed."""
    return Sentence(_changed(text.said, change)) if isinstance(text, Sentence) else change(text)


def with_template(text: str, said: Translatable | None) -> str:
    """Combine the text of a stored struct with the template and values that were stored beside it. A `said` that does
    not produce this text is ignored, because the text may have been replaced since, for example to mask a secret."""
    return text if said is None or said.english != text else Sentence(said)


def template_of(text: str) -> Translatable | None:
    return text.said if isinstance(text, Sentence) else None


def keep_templates(struct: Struct, *names: str) -> None:
    """For `__post_init__` of a stored struct: the named fields become plain strings, and the template and values of
    the last one that has them go into the field `said`."""
    for name in names:
        text = getattr(struct, name)
        if isinstance(text, Sentence):
            force_setattr(struct, name, str(text))
            force_setattr(struct, "said", text.said)


def encode_plain(text: object) -> str:
    """A hook for msgspec encoders: a Sentence is encoded as its English text."""
    if isinstance(text, Sentence):
        return str(text)
    raise NotImplementedError(f"cannot encode {type(text).__name__}")


def _value(name: str, value: object) -> str | Translatable:
    text = value if isinstance(value, str) else str(value)
    if name in TEXTS_AMONG_VALUES:
        return _text(text)
    return text.said if isinstance(text, Sentence) else text


def _text(text: str) -> Translatable:
    return text.said if isinstance(text, Sentence) else Translatable(text)


def _changed(said: Translatable, change: Callable[[str], str]) -> Translatable:
    if not said.values:
        return Translatable(change(said.template))  # it may be a foreign text
    values = said.values.items()
    return Translatable(
        said.template,
        {name: change(value) if isinstance(value, str) else _changed(value, change) for name, value in values},
    )


def _english(value: str | Translatable) -> str:
    return value if isinstance(value, str) else value.english
