"""Texts for people that can be told in another language: a template and its values, beside the English text.

Rooms below the surfaces write `say("{path} does not exist", path=path)`. What they get is an ordinary English string
that remembers its template and values, so it can be an error's message or a verdict's reason. A stored struct keeps
the plain English text, and the template and values beside it in `said`. A surface tells it in the person's language;
see `coderelay.client.language`.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import force_setattr

_PLACE = re.compile(r"\{(\w+)\}")
_TEXTS = ("reason", "problem", "rest")
"""Values of these names are texts for people themselves; all others are names, numbers and foreign words."""


class Translatable(Struct, frozen=True, omit_defaults=True):
    """A template with named places, like `{path} does not exist`, and what to put there."""

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
    """A place without a value stays as it is: the template may have come from a log."""
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), template)


def join_texts(mark: str, texts: Iterable[str]) -> str:
    """Several texts as one, with `mark` (`; `, `, ` or a line break) between them."""
    *before, last = [text for text in texts if text] or [""]
    for text in reversed(before):
        last = Sentence(Translatable(f"{{first}}{mark}{{rest}}", {"first": _text(text), "rest": _text(last)}))
    return last


def with_template(text: str, said: Translatable | None) -> str:
    """The text of a stored struct as it was when it was made. A `said` that belongs to another text is left out: the
    text may have been replaced since, for example because a secret was in it."""
    return text if said is None or said.english != text else Sentence(said)


def said_of(text: str) -> Translatable | None:
    return text.said if isinstance(text, Sentence) else None


def keep_templates(struct: Struct, *names: str) -> None:
    """For `__post_init__` of a stored struct: its texts become plain, and the template of the last one that has a
    template becomes its `said`."""
    for name in names:
        text = getattr(struct, name)
        if isinstance(text, Sentence):
            force_setattr(struct, name, str(text))
            force_setattr(struct, "said", text.said)


def encode_plain(text: object) -> str:
    """For encoders of what programs read: to them it is the English text."""
    if isinstance(text, Sentence):
        return str(text)
    raise NotImplementedError(f"cannot encode {type(text).__name__}")


def _value(name: str, value: object) -> str | Translatable:
    text = value if isinstance(value, str) else str(value)
    if name in _TEXTS:
        return _text(text)
    return text.said if isinstance(text, Sentence) else text


def _text(text: str) -> Translatable:
    return text.said if isinstance(text, Sentence) else Translatable(text)


def _english(value: str | Translatable) -> str:
    return value if isinstance(value, str) else value.english
