"""Error messages about a wrong configuration file. They never show what may be a secret."""

import difflib
import json
from collections.abc import Iterator
from typing import Any, cast, get_args, get_type_hints

import msgspec
from msgspec import Struct, inspect

from coderelay.config.folder_override_rules import RULES, Path
from coderelay.config.json_tree_checks import holds_null
from coderelay.config.secrets_in_settings import names_secret
from coderelay.config.settings import Settings
from coderelay.protocol.errors import BadInput
from coderelay.protocol.text_escaping_and_width import escaped
from coderelay.protocol.translatable import say

# A value below these keys may be a secret that was put in the wrong place.
_PRIVATE = {"providers", "agents", "mcp_servers", "hooks", "feishu"}
_LONGEST = 60


def about_text(content: bytes, file: str) -> BadInput:
    """The error for content that is not JSON, or that sets a key twice."""
    try:
        json.loads(
            content.decode("utf-8-sig"), object_pairs_hook=_dict_without_duplicate_keys, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        return BadInput(
            say(
                "{file}: line {line}, column {column}: invalid JSON: {why}",
                file=file,
                line=error.lineno,
                column=error.colno,
                why=error.msg,
            )
        )
    except UnicodeDecodeError as error:
        return BadInput(say("{file} is not UTF-8: byte {number}", file=file, number=error.start + 1))
    except RecursionError:
        return BadInput(say("{file} is nested too deeply", file=file))
    except _InvalidJson as error:
        return BadInput(say("{file}: {problem}", file=file, problem=error.args[0]))
    except ValueError:  # a number with thousands of digits
        pass
    return BadInput(say("{file} contains a number that is too large, or an invalid character", file=file))


class _InvalidJson(Exception):
    pass


def _dict_without_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in pairs:
        if name in tree:
            raise _InvalidJson(say("{key} is set twice", key=escaped(name)))
        tree[name] = value
    return tree


def _no_constant(word: str) -> Any:
    raise _InvalidJson(say("{word} is not a JSON number", word=word))


class Problem(Struct, frozen=True):
    message: str
    hint: str = ""


def about_value(tree: dict[str, Any], file: str) -> BadInput:
    """The error for the first value that is wrong or key that is unknown."""
    problem = next(_problems(tree, Settings, ()))
    return BadInput(say("{file}: {problem}", file=file, problem=problem.message), problem.hint)


def _problems(value: Any, kind: Any, path: Path) -> Iterator[Problem]:
    why = _why_not(value, kind)
    if why is None and not holds_null(value):
        return
    info = inspect.type_info(kind)
    match info:
        case inspect.StructType() if isinstance(value, dict):
            yield from _in_struct(cast(dict[str, Any], value), info, path)
            yield Problem(
                say("{key} {problem}", key=_dotted(path), problem=why)
            )  # each value is right, but not their combination
        case inspect.DictType() if isinstance(value, dict):
            yield from _in_names(cast(dict[str, Any], value), kind, path)
        case inspect.VarTupleType() if isinstance(value, list):
            for number, each in enumerate(cast(list[Any], value)):
                yield from _problems(each, get_args(kind)[0], (*path[:-1], f"{path[-1]}[{number}]"))
        case inspect.UnionType() if isinstance(value, dict) and (kinds := _structs_of(kind)):
            yield from _problems(cast(dict[str, Any], value), kinds[0], path)
        case _:
            yield Problem(_must_be(_dotted(path), expected(info), _shown_value(value, path)))


def _structs_of(kind: Any) -> list[Any]:
    return [each for each in get_args(kind) if isinstance(each, type) and issubclass(each, Struct)]


def _in_struct(values: dict[str, Any], info: inspect.StructType, path: Path) -> Iterator[Problem]:
    kinds = get_type_hints(info.cls, include_extras=True)
    for name, value in values.items():
        if name in kinds:
            yield from _problems(value, kinds[name], (*path, name))
        elif path and path[0] in _PRIVATE and names_secret(name):
            yield _secret((*path, name), list(kinds))
        else:
            yield Problem(
                say("unknown key {key}", key=_dotted((*path, name))), _did_you_mean(path, name, list(kinds))
            )


def _in_names(values: dict[str, Any], kind: Any, path: Path) -> Iterator[Problem]:
    name_kind, value_kind = get_args(kind)
    for name, value in values.items():
        if _why_not(name, name_kind) is not None:
            words, key = expected(inspect.type_info(name_kind)), _dotted(path)
            yield Problem(
                say("{key} has the name {name} that is not {what}", key=key, name=_quoted(name), what=words)
                if len(path) == 1
                else say("{key} has a name that is not {what}", key=key, what=words)  # it may be a secret
            )
        yield from _problems(value, value_kind, (*path, name))


def _why_not(value: Any, kind: Any) -> str | None:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        ours = error.__cause__  # what a `__post_init__` raised
        return ours.args[0] if isinstance(ours, ValueError) else str(error).partition(" - at ")[0]
    return None


def _secret(path: Path, known: list[str]) -> Problem:
    instead = next((each for each in (f"{path[-1]}_env", "api_key_env", "env") if each in known), "")
    where = _dotted((*path[:-1], instead)) if instead else say("the key that ends in _env")
    return Problem(
        say("{name} looks like a secret, which should not be stored in a file", name=_dotted(path)),
        say("Put it into an environment variable, and the name of that variable into {key}.", key=where),
    )


def _did_you_mean(path: Path, name: str, siblings: list[str]) -> str:
    keys = [each.replace("*", "<name>") for each in RULES]
    below = [each for each in keys if not path and each.rpartition(".")[2] == name]
    near = difflib.get_close_matches(name, siblings, 1) or below
    near = near or difflib.get_close_matches(".".join((*path, name)), keys, 1)
    if not near:
        return say("Choose from {names}.", names=", ".join(siblings))
    return say("Did you mean {name}?", name=_dotted((*path, near[0])) if near[0] in siblings else near[0])


def _must_be(key: str, what: str, value: str) -> str:
    if not value:
        return say("{key} must be {what}", key=key, what=what)
    return say("{key} must be {what}, not {value}", key=key, what=what, value=value)


def _shown_value(value: Any, path: Path) -> str:
    """The value for an error message; a text that may be a secret is left out."""
    if path[0] not in _PRIVATE:
        return _quoted(value)
    return "" if isinstance(value, str) else kind_of(value)


def _quoted(value: Any) -> str:
    text = escaped(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _dotted(path: Path) -> str:
    return escaped(".".join(path))[: 3 * _LONGEST] or '""'


def expected(kind: inspect.Type) -> str:
    match kind:
        case inspect.Metadata():
            described: dict[str, str] | None = cast(Any, kind).extra_json_schema
            return say(described["description"]) if described else expected(kind.type)
        case inspect.BoolType():
            return say("true or false")
        case inspect.IntType():
            return _number(say("a whole number"), kind)
        case inspect.FloatType():
            return _number(say("a number"), kind)
        case inspect.StrType():
            return say("text") if not kind.min_length else say("text that is not empty")
        case inspect.LiteralType():
            return _choice([str(each) for each in kind.values])
        case inspect.VarTupleType():
            return say("a list")
        case inspect.StructType() | inspect.DictType():
            return say("an object")
        case inspect.UnionType():
            *before, last = [expected(each) for each in kind.types if not isinstance(each, inspect.NoneType)]
            return say("{names} or {rest}", names=", ".join(before), rest=last) if before else last
        case _:
            return say("something else")


def kind_of(value: Any) -> str:
    """The type of a JSON value, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return say("true or false")
        case int() | float():
            return say("a number")
        case str():
            return say("text")
        case list():
            return say("a list")
        case _:
            return say("an object")


def _number(what: str, kind: inspect.IntType | inspect.FloatType) -> str:
    least = kind.ge if kind.ge is not None else kind.gt
    if least is None:
        return what
    if kind.le is not None:
        return say("{what} between {count} and {number}", what=what, count=least, number=kind.le)
    if kind.gt is not None:
        return say("{what} above {number}", what=what, number=least)
    return say("{what} of at least {number}", what=what, number=least)


def _choice(words: list[str]) -> str:
    *before, last = words
    return say("{names} or {rest}", names=", ".join(before), rest=last) if before else last
