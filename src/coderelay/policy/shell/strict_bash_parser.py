"""Strict parser for a literal subset of bash: a command text is read exactly as bash reads it, or refused.

The subset is plain words, quotes without expansions, lists, pipes, a few redirections, `<(…)` and loops over plain
words. Whatever is outside of it is refused, never misread. tree-sitter-bash is not bash: escaped blanks and continued
lines vanish from its tree, so every byte between two tokens must be a blank, or a line continuation beside one.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from coderelay.policy.shell.tree_sitter_bash import MOST_CHARACTERS, parse

if TYPE_CHECKING:
    from tree_sitter import Node

_PLAIN = re.compile(r"[A-Za-z0-9_./:=,@%+~^*?-]+")
_TILDE = re.compile(r"(^|[:=,])~")
_ESCAPED = {"\\(": "(", "\\)": ")", "\\;": ";", "\\!": "!", "!": "!", "{}": "{}"}
# bash does not expand braces without a comma or two dots between them.
_BRACED = re.compile(r"[A-Za-z0-9_./:=@%+~^-]*(?:\{[A-Za-z0-9_-]*\}[A-Za-z0-9_./:=@%+~^-]*)+")
_QUOTED = re.compile(r'\\([$`"\\])|(\\[^\n]|[^\\$`"])|\$([?$])|\$(?:\{([a-z]+)\}|([a-z]+)(?![A-Za-z0-9_]))')
_NUMBER = "?"  # a glob that stands for the digits of `$?` and `$$`
# Loop variables must have short lower-case names, which have no meaning to any program.
_VARIABLE = re.compile(r"[a-z]{1,8}")
_MOST_ITEMS = 32
_MOST_COMMANDS = 256
_JOINTS = {"&&", "||", ";", "|", "|&", "\n"}
_REDIRECTIONS = {">", ">>", "<", "&>", "&>>", ">&", "<&"}
_TRANSPARENT = {"program", "list", "pipeline", "redirected_statement"}
_COMMANDS = {"command", "test_command", "for_statement"}


class Word(Struct, frozen=True):
    """One word after quotes are removed. A glob may expand to any number of file names."""

    text: str
    glob: bool = False


class Simple(Struct, frozen=True):
    """One simple command of a list. `piped` says that a pipe is before or behind it, or that it is in a loop or in
    `<(…)`."""

    words: tuple[Word, ...]
    assignments: tuple[tuple[str, str], ...] = ()
    piped: bool = False


class Redirection(Struct, frozen=True):
    operator: str
    target: str


class Script(Struct, frozen=True):
    commands: tuple[Simple, ...]
    redirections: tuple[Redirection, ...]


class NotLiteral(Exception):
    """The text is not in the literal subset; the message says what is outside of it."""


def odd_character(text: str) -> str | None:
    """The first control or unusual blank character, which a person would not see, or would see somewhere else."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return None
    for each in text:
        if each not in "\t\n" and (unicodedata.category(each)[0] == "C" or (each != " " and each.isspace())):
            return f"U+{ord(each):04X}"
    return None


@lru_cache(maxsize=8)
def read_script(text: str) -> Script:
    """The commands of a text that is literal from the first byte to the last. Raises NotLiteral."""
    root = parse(text).root_node
    if root.has_error:
        raise NotLiteral("it cannot be parsed")
    reader = _ScriptReader(text.encode())
    reader.read([root], 0, len(reader.source), {})
    if not reader.commands:
        raise NotLiteral("it is empty")
    return Script(tuple(reader.commands), tuple(reader.redirections))


def literal_script(text: str) -> Script | None:
    """None for a text that is not literal, is too long, or holds characters that a person would not see."""
    try:
        return None if len(text) > MOST_CHARACTERS or odd_character(text) else read_script(text)
    except NotLiteral:
        return None


class _ScriptReader:
    """Collects commands in the order they run; the commands of a loop once for each item."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.commands: list[Simple] = []
        self.redirections: list[Redirection] = []

    def read(
        self, nodes: "Sequence[Node]", start: int, stop: int, values: Mapping[str, Word], piped: bool = False
    ) -> None:
        """Reads the source between two byte positions, which must consist of these nodes and blanks alone."""
        joint = "\n"
        end = start
        for token in _tokens(nodes):
            gap = _blanks(self.source[end : token.start_byte])
            joint = "\n" if b"\n" in gap and token.type not in _JOINTS else joint
            if token.type in _COMMANDS:
                if not joint:
                    raise NotLiteral("it cannot be parsed")
                self._command(token, values, piped or joint in ("|", "|&"))
                joint = ""
            elif token.type == "file_redirect":
                if joint or not gap:
                    raise NotLiteral("it has a redirection without a command")
                self.redirections.append(_redirection(token, self.source))
            elif token.type == "comment":
                if self.source[token.start_byte - 1 : token.start_byte] not in (b"", b" ", b"\t", b"\n"):
                    raise NotLiteral("it cannot be parsed")
                if b"\n" in self.source[token.start_byte : token.end_byte]:
                    raise NotLiteral("it cannot be parsed")
            else:
                joint = token.type
                if joint in ("|", "|&") and self.commands:
                    self.commands[-1] = replace(self.commands[-1], piped=True)
            end = token.end_byte
        _blanks(self.source[end:stop])

    def _command(self, node: "Node", values: Mapping[str, Word], piped: bool) -> None:
        match node.type:
            case "for_statement":
                self._loop(node, values)
            case "test_command":
                self.commands.append(Simple(_test(node, self.source), piped=piped))
            case _:
                self.commands.append(self._simple(node, values, piped))
        if len(self.commands) > _MOST_COMMANDS:
            raise NotLiteral("it contains too many commands to check")

    def _simple(self, node: "Node", values: Mapping[str, Word], piped: bool) -> Simple:
        words: list[Word] = []
        assignments: list[tuple[str, str]] = []
        end = node.start_byte
        for child in node.children:
            gap = _blanks(self.source[end : child.start_byte])
            if (child.start_byte != node.start_byte and not gap) or b"\n" in gap:
                raise NotLiteral("it contains an escape")
            if child.type == "variable_assignment":
                assignments.append(_assignment(child, self.source))
            elif child.type == "process_substitution" and words:
                words.append(self._substituted(child, values))
            else:
                name = child.children[0] if child.type == "command_name" else child
                words.append(_word(name, self.source, values))
            end = child.end_byte
        if not words or words[0].glob:
            raise NotLiteral("the program is not a plain word")
        return Simple(tuple(words), tuple(assignments), piped)

    def _substituted(self, node: "Node", values: Mapping[str, Word]) -> Word:
        """Reads the commands in `<(…)`. The word itself becomes a read-only file of unknown name."""
        opening, *inside, closing = node.children
        if (opening.type, closing.type) != ("<(", ")"):
            raise NotLiteral(_name_of(node))
        self.read(inside, opening.end_byte, closing.start_byte, values, piped=True)
        return Word("/dev/null", glob=True)

    def _loop(self, node: "Node", values: Mapping[str, Word]) -> None:
        types = [child.type for child in node.children]
        if types[:3] != ["for", "variable_name", "in"] or types[-1] != "do_group" or len(types) > _MOST_ITEMS:
            raise NotLiteral(_name_of(node))
        for before, after in pairwise(node.children):
            gap = _blanks(self.source[before.end_byte : after.start_byte])
            if not gap and after.type not in (";", "\n"):
                raise NotLiteral("it cannot be parsed")
        name, group = _text(node.children[1], self.source), node.children[-1]
        items = [child for child in node.children[3:-1] if child.type not in (";", "\n")]
        if not _VARIABLE.fullmatch(name) or name in values or not items or node.children[-2] in items:
            raise NotLiteral("it sets a variable")
        do, *inside, done = group.children
        if (do.type, done.type) != ("do", "done"):
            raise NotLiteral("it cannot be parsed")
        for item in [_word(each, self.source, values) for each in items]:
            self.read(inside, do.end_byte, done.start_byte, {**values, name: item}, piped=True)


def _blanks(gap: bytes) -> bytes:
    """The blanks between two tokens as bash sees them, with line continuations removed."""
    seen = gap.replace(b"\\\n", b"")
    if seen.strip(b" \t\n") or (gap != seen and (not seen or b"\n" in seen)):
        raise NotLiteral("it contains an escape")
    return seen


def _tokens(nodes: "Sequence[Node]") -> "Iterator[Node]":
    """The tokens in source order. Lists nest as deep as they are long, so this does not recurse."""
    rest = list(reversed(nodes))
    while rest:
        child = rest.pop()
        if child.type in _TRANSPARENT:
            rest += reversed(child.children)
        elif child.type in _JOINTS or child.type in _COMMANDS or child.type in ("file_redirect", "comment"):
            yield child
        else:
            raise NotLiteral(_name_of(child))


def _test(node: "Node", source: bytes) -> tuple[Word, ...]:
    """The words of `[ … ]`, read as those of `test …`."""
    whole = source[node.start_byte : node.end_byte]
    if whole[:2] != b"[ " or whole[-2:] != b" ]":
        raise NotLiteral(_name_of(node))
    text = "test " + whole[2:-2].decode()
    script = read_script(text)
    if len(script.commands) != 1 or script.redirections or b"\n" in whole:
        raise NotLiteral(_name_of(node))
    return script.commands[0].words


def _assignment(node: "Node", source: bytes) -> tuple[str, str]:
    if [child.type for child in node.children][:2] != ["variable_name", "="] or len(node.children) != 3:
        raise NotLiteral("it sets a variable")
    name, equals, value = node.children
    if name.end_byte != equals.start_byte or equals.end_byte != value.start_byte:
        raise NotLiteral("it sets a variable")
    word = _word(value, source, {})
    if word.glob:
        raise NotLiteral("it sets a variable")
    return _text(name, source), word.text


def _redirection(node: "Node", source: bytes) -> Redirection:
    children = [child for child in node.children if child.type != "file_descriptor"]
    if len(children) != 2 or children[0].type not in _REDIRECTIONS:
        raise NotLiteral("it uses a redirection that coder does not analyse")
    descriptor = source[node.start_byte : children[0].start_byte]
    if descriptor not in (b"", b"0", b"1", b"2"):
        raise NotLiteral("it uses a redirection that coder does not analyse")
    if source[children[0].end_byte : children[1].start_byte].strip(b" \t"):
        raise NotLiteral("it contains an escape")
    target = _word(children[1], source, {})
    if target.glob:
        raise NotLiteral("it redirects to a pattern")
    return Redirection(children[0].type, target.text)


def _word(node: "Node", source: bytes, values: Mapping[str, Word]) -> Word:
    text = _text(node, source)
    match node.type:
        case "raw_string":
            return Word(text[1:-1])
        case "string":
            return _quoted(node, text, values)
        case "simple_expansion" | "expansion":
            return _expansion(text, values)
        case "concatenation" if _BRACED.fullmatch(text) and not _TILDE.search(text):
            return Word(text)
        case "concatenation" if text not in _ESCAPED:
            return _joined(node, source, values)
        case "word" | "number" | "concatenation":
            return _plain(text)
        case _:
            raise NotLiteral(_name_of(node))


def _quoted(node: "Node", text: str, values: Mapping[str, Word]) -> Word:
    """The word in double quotes, where a backslash only escapes characters that are special there."""
    if any(child.type not in ('"', "string_content", "simple_expansion", "expansion") for child in node.children):
        raise NotLiteral("it contains a shell expansion")
    parts: list[Word] = []
    at, end = 1, len(text) - 1
    while at < end:
        found = _QUOTED.match(text, at, end)
        if found is None:
            raise NotLiteral("it contains a shell expansion")
        escaped, plain, number, braced, named = found.groups()
        if number:
            parts.append(Word(_NUMBER, glob=True))
        elif name := braced or named:
            parts.append(_value(name, values))
        else:
            parts.append(Word(escaped or plain))
        at = found.end()
    return _together(parts)


def _expansion(text: str, values: Mapping[str, Word]) -> Word:
    """The value of an unquoted variable. bash splits it and expands it as a glob, so it must be plain."""
    if text in ("$?", "$$"):
        return Word(_NUMBER, glob=True)
    word = _value(text[1:].removeprefix("{").removesuffix("}"), values)
    if word.glob or not _is_plain(word.text) or set("*?~") & set(word.text):
        raise NotLiteral("it contains a shell expansion")
    return word


def _value(name: str, values: Mapping[str, Word]) -> Word:
    if name not in values:
        raise NotLiteral("it contains a shell expansion")
    return values[name]


def _joined(node: "Node", source: bytes, values: Mapping[str, Word]) -> Word:
    if _TILDE.search(_text(node, source)):
        raise NotLiteral("it contains a shell expansion")
    parts: list[Word] = []
    end = node.start_byte
    for child in node.children:
        if child.start_byte != end or child.type == "concatenation":
            raise NotLiteral("it contains an escape")
        parts.append(_word(child, source, values))
        end = child.end_byte
    if end != node.end_byte:
        raise NotLiteral("it contains an escape")
    return _together(parts)


def _together(parts: list[Word]) -> Word:
    return Word("".join(part.text for part in parts), any(part.glob for part in parts))


def _plain(text: str) -> Word:
    if text in _ESCAPED:
        return Word(_ESCAPED[text])
    if not _is_plain(text):
        raise NotLiteral("it contains an escape, a brace or another special character")
    if _TILDE.search(text):
        raise NotLiteral("it refers to a home folder")
    return Word(text, glob="*" in text or "?" in text)


def _is_plain(text: str) -> bool:
    """Whether a text has no special characters. To bash every non-ASCII character is part of a word; those that are
    not printable are refused."""
    letters = text if text.isascii() else "".join("a" if ord(c) > 127 and c.isprintable() else c for c in text)
    return _PLAIN.fullmatch(letters) is not None


def _text(node: "Node", source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode()


_NAMES = {
    **dict.fromkeys(("command_substitution", "process_substitution"), "it runs a command inside another"),
    **dict.fromkeys(
        ("simple_expansion", "expansion", "arithmetic_expansion", "translated_string"),
        "it contains a shell expansion",
    ),
    **dict.fromkeys(
        ("variable_assignment", "variable_assignments", "declaration_command", "unset_command"), "it sets a variable"
    ),
    "ansi_c_string": "it contains an escape",
    "function_definition": "it defines a function",
    "heredoc_redirect": "it contains a here document",
    "herestring_redirect": "it contains a here string",
    "&": "it leaves a process running",
}


def _name_of(node: "Node") -> str:
    return _NAMES.get(node.type, "it uses shell syntax that coder does not analyse")
