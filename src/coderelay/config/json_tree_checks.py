"""Look through a configuration as it is written: nested JSON objects and lists."""

from collections.abc import Iterable
from typing import Any, cast

Tree = dict[str, Any]


def holds_null(value: Any) -> bool:
    """Whether there is a null anywhere, which is not allowed: a key without a value must be left out, so that it is
    clear whose value counts."""
    return value is None or any(map(holds_null, _inside(value)))


def count_keys(value: Any, deepest: int) -> int:
    if deepest == 0:
        raise RecursionError
    own = len(cast(Tree, value)) if isinstance(value, dict) else 0
    return own + sum(count_keys(each, deepest - 1) for each in _inside(value))


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast(Tree, value).values()
    return cast(list[Any], value) if isinstance(value, list) else ()
