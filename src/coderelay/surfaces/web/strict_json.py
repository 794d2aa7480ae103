"""JSON from outside, read strictly: what is not clearly one value is refused and not guessed at."""

import json
import math
import re
from collections import Counter
from itertools import islice
from typing import Any, cast

from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say

MOST_BYTES = 8 * 1024 * 1024
_MOST_DEPTH = 64
_MOST_NAME = 200
_MOST_PIECES = 300_000
_PIECES = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{,]', re.DOTALL
)  # the pattern never backtracks, even if a string has no end


def read_json(text: str) -> object:
    """The value of a JSON text. Raises BadInput for anything else than JSON, for a key that stands twice in one
    object, for NaN and Infinity, for lone surrogates, and for what is too large, has too many values or
    is nested too deeply."""
    if len(text) > MOST_BYTES:
        raise BadInput(say("the message is too large: {count} bytes at most", count=MOST_BYTES))
    if sum(1 for _ in islice(_PIECES.finditer(text), _MOST_PIECES + 1)) > _MOST_PIECES:
        raise BadInput("the message has too many values")  # it would take seconds, and everybody would wait
    try:
        value: object = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except RecursionError as error:
        raise BadInput(_TOO_DEEP) from error
    except ValueError as error:
        raise BadInput(say("the message is not valid JSON: {why}", why=error)) from error
    _check(value, 0)
    return value


_TOO_DEEP = say("the message is nested too deeply: {count} levels at most", count=_MOST_DEPTH)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {twice[:_MOST_NAME]!r} appears twice in one object")
    return made


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _check(value: object, depth: int) -> None:
    if depth > _MOST_DEPTH:
        raise BadInput(_TOO_DEEP)
    match value:
        case str():
            _check_text(value)
        case float() if not math.isfinite(value):
            raise BadInput("the message has a number that is too large")
        case dict():
            for name, each in cast("dict[str, object]", value).items():
                _check_text(name)
                _check(each, depth + 1)
        case list():
            for each in cast("list[object]", value):
                _check(each, depth + 1)
        case _:
            pass


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInput("the message has half of a character (a lone surrogate)") from error
    if "\0" in text:
        raise BadInput("the message has a NUL character")
