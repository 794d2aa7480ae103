"""Values that are secret because of the name before them: in JSON, addresses, headers, dumps of variables."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coderelay.policy.secrets.named_value import Value

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


def _values(text: str) -> "Iterator[Value]":
    lowered = text.replace("\u0130", "I").lower()  # the only letter that would become two
    ends = sorted((end, word) for word in _WORDS if word in lowered for end in _ends(lowered, word))
    if not ends:
        return
    from coderelay.policy.secrets.named_value import (
        value_at,  # its patterns take longer to compile than most texts to mask
    )

    for end, word in ends:
        if (value := value_at(text, end, word)) is not None:
            yield value


def _ends(text: str, word: str) -> Iterator[int]:
    """Where a word is the end of a name."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if text[end : end + 1] in _FOLLOWING and end < len(text):
            yield end
        at = text.find(word, end)
