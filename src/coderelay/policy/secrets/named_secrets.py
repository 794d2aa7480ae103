"""Masks values that are secret by the name before them: in JSON, URLs, headers and the output of `env`."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coderelay.policy.secrets.value_after_secret_name import SecretValue

_WORDS = (
    "key", "token", "secret", "passwd", "password", "passphrase", "pwd", "auth", "authorization", "credential",
    "credentials", "signature", "sig", "bearer",
)  # fmt: skip
_FOLLOWING = frozenset("\\\"'] \t=:")


def hide_named(text: str, is_example: Callable[[str], bool]) -> str:
    parts: list[str] = []
    done = 0
    for value in _values(text):
        if value.start >= done and not is_example(text[value.start : value.end]):
            parts += [text[done : value.start], f"[hidden secret: {value.kind}]"]
            done = value.end
    return "".join([*parts, text[done:]]) if parts else text


def _values(text: str) -> "Iterator[SecretValue]":
    lowered = text.replace("\u0130", "I").lower()  # the only letter that becomes two, which would shift positions
    ends = sorted((end, word) for word in _WORDS if word in lowered for end in _ends(lowered, word))
    if not ends:
        return
    from coderelay.policy.secrets.value_after_secret_name import value_at

    for end, word in ends:
        if (value := value_at(text, end, word)) is not None:
            yield value


def _ends(text: str, word: str) -> Iterator[int]:
    """The positions behind each occurrence of the word that may end the name of a value."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if text[end : end + 1] in _FOLLOWING and end < len(text):
            yield end
        at = text.find(word, end)
