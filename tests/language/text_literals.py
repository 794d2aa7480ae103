"""The texts in our own code: what is said through `t`, and what is put together elsewhere."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct

import coderelay

ROOM = Path(coderelay.__file__).parent
PLACE = re.compile(r"\{(\w+)\}")


class Said(Struct, frozen=True):
    """A text that is given to `t` or `say`, with the names of the values that come with it."""

    where: str
    text: str
    values: frozenset[str]


class Unclear(Struct, frozen=True):
    """What is given to `t` here cannot be read off the file."""

    where: str


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


@cache
def _calls(file: Path, *functions: str) -> list[ast.Call]:
    """The calls of these functions. A file that has none of the names is not parsed."""
    if not re.search(rf"\b({'|'.join(functions)})\(", file.read_text()):
        return []
    calls = [node for node in ast.walk(parsed(file)) if isinstance(node, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in functions]


def said_in(file: Path, *functions: str) -> Iterator[Said | Unclear]:
    """What is given to these functions: `t` and `say`, unless they are named."""
    if not (calls := _calls(file, *(functions or ("t", "say")))):
        return
    tree = parsed(file)
    constants = _constants(tree)
    for call in calls:
        where = f"{file.relative_to(ROOM)}:{call.lineno}"
        values = frozenset(each.arg or "**" for each in call.keywords)
        texts = _texts(call.args[0], constants, ast.get_docstring(tree, clean=False))
        if texts is None:
            yield Unclear(where)
        else:
            yield from (Said(where, text, values) for text in texts)


def constants_of(file: str) -> dict[str, list[str]]:
    return _constants(ast.parse((ROOM / file).read_text()))


def _texts(given: ast.expr, constants: dict[str, list[str]], doc: str | None) -> list[str] | None:
    """A text, `__doc__ or ""`, or a name or a piece of a table that stands in the same file."""
    match given:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.BoolOp(values=[ast.Name(id="__doc__"), *_]) if doc:
            return [doc]
        case ast.IfExp(body=body, orelse=orelse):
            both = _texts(body, constants, doc), _texts(orelse, constants, doc)
            return None if both[0] is None or both[1] is None else both[0] + both[1]
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
            return constants.get(name)
        case _:
            return None


def _constants(tree: ast.Module) -> dict[str, list[str]]:
    """Texts, and tables of nothing but texts, at the top of a file."""
    found: dict[str, list[str]] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = _strings(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[name] = _strings(value)
            case _:
                pass
    return {name: texts for name, texts in found.items() if texts}


def _strings(value: ast.expr) -> list[str]:
    match value:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            return [text for part in parts for text in _strings(part)]
        case _:
            return []


def records_in(file: Path) -> Iterator[tuple[str, str]]:
    """The English and the Chinese of each `Localized(...)`: what records say of themselves."""
    for call in _calls(file, "Localized"):
        if len(call.args) == 2:
            english, chinese = call.args
            yield ast.literal_eval(english), ast.literal_eval(chinese)


def strings_in(file: Path) -> Iterator[str]:
    """Every text that stands in a file, and the fixed parts of those that are put together. What the spec of a tool
    says of its Chinese is no text of the code."""
    nodes: list[ast.AST] = [parsed(file)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        if not (isinstance(node, ast.keyword) and node.arg == "chinese_results"):
            nodes += ast.iter_child_nodes(node)
