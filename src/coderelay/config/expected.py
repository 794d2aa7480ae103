"""Types in words."""

from typing import Any, cast

from msgspec import inspect


def expected(kind: inspect.Type) -> str:
    match kind:
        case inspect.Metadata():
            described: dict[str, str] | None = cast(Any, kind).extra_json_schema
            return described["description"] if described else expected(kind.type)
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return f"a whole number{_range(kind)}"
        case inspect.FloatType():
            return f"a number{_range(kind)}"
        case inspect.StrType():
            return "text" if not kind.min_length else "text that is not empty"
        case inspect.LiteralType():
            return _choice([str(each) for each in kind.values])
        case inspect.VarTupleType():
            return "a list"
        case inspect.StructType() | inspect.DictType():
            return "an object"
        case inspect.UnionType():
            return " or ".join(expected(each) for each in kind.types if not isinstance(each, inspect.NoneType))
        case _:
            return "something else"


def kind_of(value: Any) -> str:
    """What a JSON value is."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "an object"


def _range(kind: inspect.IntType | inspect.FloatType) -> str:
    least = kind.ge if kind.ge is not None else kind.gt
    if least is None:
        return ""
    if kind.le is not None:
        return f" between {least} and {kind.le}"
    return f" above {least}" if kind.gt is not None else f" of at least {least}"


def _choice(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
