"""The texts that refusals and outcomes are given in our own code, followed to where they are written.

A text may come by way of a variable, a constant, a function that returns it, or a parameter of a function that
refuses with it. Each is followed by its name, within the file and into the file that it is imported from.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from coderelay.protocol.translatable import TEXTS_AMONG_VALUES
from tests.language.text_literals import ROOM, parsed

_TEXTS = {
    "message",
    "hint",
    "reason",
    "what",
    "why",
    "problem",
    "summary",
    "text",
    "note",
    "danger",
    "trouble",
    "unread",
}
"""The parameters and fields that hold texts for people."""
_REFUSALS = {"CoderError", "NotReadOnly", "NotLiteral", "InvalidRule", "ServerMisbehaved", "ServerFailed", "NoAnswer"}
"""With all classes that are derived from them."""
_OUTCOMES = {
    *("Failed", "Denied", "Finished", "Need", "Judged", "PermissionAsk", "Verdict", "CommandVerdict", "Assessment"),
    *("Danger", "Suspicion", "Program", "Notice", "TurnProlonged", "TreeTaken", "SkillText", "Problem"),
    *("HookOutput", "KeptFile"),
}
_RETURN_TEXTS = {"deliver"}
"""Functions whose results become such texts on ways that cannot be followed."""
_TRANSLATED = {"say", "t", "localize", "retell", "error_in_words", "with_template"}

_WORDS = re.compile(r"[a-z]{2,} | [a-z]{2,}|^[a-z]{4,}$")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Around = tuple[ast.AST, ...]


class Written(Struct, frozen=True, order=True):
    """A text as it stands in the code. If it is put together there, `text` is None, and `fixed` is what of it stands
    in the code."""

    where: str
    code: str
    text: str | None = None
    fixed: str = ""


class _Call(Struct, frozen=True):
    node: ast.Call
    file: "_File"
    around: _Around

    @property
    def name(self) -> str:
        function = self.node.func
        return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")

    def given(self, parameters: list[str], wanted: Iterable[str]) -> Iterator[ast.expr]:
        """What is given for the wanted ones of these parameters."""
        for name, value in zip(parameters, self.node.args, strict=False):
            if name in wanted and not isinstance(value, ast.Starred):
                yield value
        for each in self.node.keywords:
            if (each.arg or "**") in wanted:
                yield each.value


class _File:
    """What is defined, imported and called in one file."""

    def __init__(self, path: Path, root: Path) -> None:
        self.name = str(path.relative_to(root))
        self.module = f"coderelay.{self.name.removesuffix('.py').replace('/', '.')}"
        self.functions: dict[str, tuple[_Function, _Around]] = {}
        self.constants: dict[str, ast.expr] = {}
        self.imports: dict[str, tuple[str, str]] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.calls: list[_Call] = []
        self.made: list[tuple[_Function, _Around]] = []
        self._visit(parsed(path), ())

    def _visit(self, node: ast.AST, around: _Around) -> None:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self.functions[name] = node, around
                if name == "__init__":
                    self.made.append((node, around))
                around = *around, node
            case ast.ClassDef(name=name):
                self.classes[name] = node
                around = *around, node
            case ast.ImportFrom(module=str(module)):
                self.imports |= {each.asname or each.name: (module, each.name) for each in node.names}
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not around:
                self.constants[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if not around:
                self.constants[name] = value
            case ast.Call():
                self.calls.append(_Call(node, self, around))
            case _:
                pass
        for child in ast.iter_child_nodes(node):
            self._visit(child, around)


class RefusalTexts:
    """All of them, in the files below a folder."""

    def __init__(self, root: Path = ROOM) -> None:
        files = [_File(path, root) for path in sorted(root.rglob("*.py"))]
        self._files = {file.module: file for file in files}
        self._classes = {name: node for file in self._files.values() for name, node in file.classes.items()}
        self._followed: set[tuple[str, str, str]] = set()  # functions by file and name, and their parameters
        self._seen: set[tuple[ast.expr, str]] = set()
        self._found: set[Written] = set()

    @cached_property
    def written(self) -> list[Written]:
        for file in self._files.values():
            for call in file.calls:
                self._look(call)
            for function, around in file.made:
                for default in [each for name in _TEXTS for each in _defaults(function, name)]:
                    self._follow(default, file, around)
            for name in _RETURN_TEXTS & file.functions.keys():
                self._follow_function(file, name)
        return sorted(self._found)

    def _look(self, call: _Call) -> None:
        name = call.name
        if name == "__init__" and (inside := [each for each in call.around if isinstance(each, ast.ClassDef)]):
            name = next(iter(_bases(inside[-1])), "")  # super().__init__(…)
        if name in _OUTCOMES or self._refuses(name):
            for value in call.given(self._parameters(name), _TEXTS):
                self._follow(value, call.file, call.around)
        elif name == "append" and isinstance(call.node.func, ast.Attribute) and _is_notes(call.node.func.value):
            self._follow(call.node.args[0], call.file, call.around)

    def _refuses(self, name: str) -> bool:
        if name in _REFUSALS:
            return True
        return name in self._classes and any(map(self._refuses, _bases(self._classes[name])))

    def _parameters(self, name: str) -> list[str]:
        """The parameters with which a class is made."""
        if name not in self._classes:
            return ["message"]
        node = self._classes[name]
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and each.name == "__init__":
                return _names(each)[1:]
        fields = [name for each in node.body if (name := _field(each))]
        return fields or next((self._parameters(base) for base in _bases(node)), ["message"])

    def _follow(self, value: ast.expr, file: _File, around: _Around) -> None:
        if self._was_seen(value, "text"):
            return
        match value:
            case ast.Constant(value=str(text)) if any(map(str.isalpha, text)):
                self._find(value, file, text)
            case ast.JoinedStr() | ast.BinOp():
                self._find(value, file)
            case ast.IfExp(body=one, orelse=other):
                self._follow(one, file, around)
                self._follow(other, file, around)
            case ast.BoolOp(op=op, values=values):
                for each in values if isinstance(op, ast.Or) else values[-1:]:
                    self._follow(each, file, around)
            case ast.NamedExpr(value=inner) | ast.Await(value=inner) | ast.Starred(value=inner):
                self._follow(inner, file, around)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
                for each in parts:
                    self._follow(each, file, around)
            case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="join" | "format")):
                self._find(value, file)
            case ast.Call(func=ast.Name(id="join_texts"), args=[_, texts]):
                self._follow(texts, file, around)
            case ast.Call(func=ast.Name(id="say"), keywords=values):
                for each in values:
                    follow = self._follow if each.arg in TEXTS_AMONG_VALUES else self._follow_value
                    follow(each.value, file, around)
            case ast.ListComp(elt=each) | ast.GeneratorExp(elt=each):
                self._follow(each, file, around)
            case ast.Subscript(value=ast.Call(func=ast.Name(id=name)), slice=ast.Constant(value=int(part))):
                self._follow_function(file, name, part)
            case ast.Call(func=ast.Name(id=name)) if name not in _TRANSLATED:
                self._follow_function(file, name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                self._follow_function(file, name)
            case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
                self._follow_name(name, file, around)
            case _:
                pass

    def _follow_value(self, value: ast.expr, file: _File, around: _Around) -> None:
        """Words of ours among the values of a template, which would stay English."""
        if self._was_seen(value, "value"):
            return
        match value:
            case ast.Constant(value=str(text)) if _WORDS.search(text):
                self._find(value, file, text)
            case ast.JoinedStr() if _WORDS.search(_fixed(value)):
                self._find(value, file)
            case ast.IfExp(body=one, orelse=other):
                self._follow_value(one, file, around)
                self._follow_value(other, file, around)
            case ast.BoolOp(op=ast.Or(), values=values):
                for each in values:
                    self._follow_value(each, file, around)
            case ast.Name(id=name):
                for function in [each for each in around if isinstance(each, _Function)]:
                    for each in _assigned(function, name):
                        self._follow_value(each, file, around)
            case ast.Call(func=ast.Name(id=name)) if name not in _TRANSLATED and name in file.functions:
                function, outer = file.functions[name]
                if (file.module, name, "value") not in self._followed:
                    self._followed.add((file.module, name, "value"))
                    for each in ast.walk(function):
                        if isinstance(each, ast.Return) and each.value is not None:
                            self._follow_value(each.value, file, (*outer, function))
            case _:
                pass

    def _find(self, value: ast.expr, file: _File, text: str | None = None) -> None:
        where = f"{file.name}:{value.lineno}"
        self._found.add(Written(where, ast.unparse(value), text, _fixed(value) if text is None else ""))

    def _was_seen(self, value: ast.expr, role: str) -> bool:
        """A variable may be assigned what it was before and more."""
        was_seen = (value, role) in self._seen
        self._seen.add((value, role))
        return was_seen

    def _follow_function(self, file: _File, name: str, part: int | None = None) -> None:
        """The texts that a function returns, or one part of the tuples that it returns."""
        at = self._defined(file, name)
        if at is None or name not in at.functions or (at.module, name, str(part)) in self._followed:
            return
        self._followed.add((at.module, name, str(part)))
        function, around = at.functions[name]
        for each in ast.walk(function):
            if isinstance(each, ast.Return) and each.value is not None:
                found = each.value
                if part is not None and isinstance(found, ast.Tuple):
                    found = found.elts[part]
                self._follow(found, at, (*around, function))

    def _follow_name(self, name: str, file: _File, around: _Around) -> None:
        functions = [each for each in around if isinstance(each, _Function)]
        for depth, function in reversed([*enumerate(functions)]):
            assigned = [*_assigned(function, name)]
            for each in assigned:
                self._follow(each, file, around)
            if name in _names(function):
                self._follow_parameter(function, name, file, (*functions[:depth],), around)
            if assigned or name in _names(function):
                return
        at = self._defined(file, name)
        if at is not None and name in at.constants and (at.module, name, "") not in self._followed:
            self._followed.add((at.module, name, ""))
            self._follow(at.constants[name], at, ())

    def _follow_parameter(self, function: _Function, name: str, file: _File, outer: _Around, around: _Around) -> None:
        """What the callers of a function give for this parameter."""
        if (file.module, function.name, name) in self._followed:
            return
        self._followed.add((file.module, function.name, name))
        of_class = next((each for each in around if isinstance(each, ast.ClassDef)), None)
        called = of_class.name if of_class is not None and function.name == "__init__" else function.name
        parameters = [each for each in _names(function) if each not in ("self", "cls")]
        for default in _defaults(function, name):
            self._follow(default, file, outer)
        for other in self._files.values():
            if other is file or other.imports.get(called) == (file.module, called):
                for call in other.calls:
                    if call.name == called:
                        for value in call.given(parameters, (name,)):
                            self._follow(value, other, call.around)

    def _defined(self, file: _File, name: str) -> _File | None:
        """The file in which what is called `name` here is defined."""
        if name in file.functions or name in file.constants:
            return file
        module, _ = file.imports.get(name, ("", ""))
        return self._files.get(module)


def _fixed(value: ast.expr) -> str:
    """The literal parts of a text that is put together, without what is handed to functions."""
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(_fixed, parts))
        case ast.BinOp(left=left, right=right):
            return _fixed(left) + _fixed(right)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)))):
            return text
        case _:
            return ""


def _assigned(function: _Function, name: str) -> Iterator[ast.expr]:
    for each in ast.walk(function):
        match each:
            case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                yield value
            case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value) if found == name:
                yield value
            case ast.NamedExpr(target=ast.Name(id=found), value=value) if found == name:
                yield value
            case ast.AugAssign(target=ast.Name(id=found), value=value) if found == name:
                more = ast.BinOp(ast.Name(name), ast.Add(), value, lineno=each.lineno)
                yield value if isinstance(value, ast.List | ast.ListComp) else more
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                yield from (
                    value
                    for target, value in zip(names, values, strict=False)
                    if isinstance(target, ast.Name) and target.id == name
                )
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call() as value):
                for at, target in enumerate(names):
                    if isinstance(target, ast.Name) and target.id == name:
                        yield ast.Subscript(value, ast.Constant(at), lineno=value.lineno)
            case _:
                pass


def _names(function: _Function) -> list[str]:
    given = function.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _defaults(function: _Function, name: str) -> Iterator[ast.expr]:
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    for each, value in zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True):
        if each.arg == name:
            yield value
    for each, keyword in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        if each.arg == name and keyword is not None:
            yield keyword


def _is_notes(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id == "notes"


def _field(node: ast.stmt) -> str:
    """The name of a field of a struct, if this statement declares one."""
    match node:
        case ast.AnnAssign(target=ast.Name(id=name), annotation=kind) if "ClassVar" not in ast.unparse(kind):
            return name
        case _:
            return ""


def _bases(node: ast.ClassDef) -> list[str]:
    return [each.id for each in node.bases if isinstance(each, ast.Name)]
