"""A command text as bash would read it, or nothing at all.

Only a small literal subset of bash is read: plain words, quotes without expansions, lists, pipes and a
few redirections. Whatever is outside of it is not misread, it is refused. tree-sitter-bash is not bash:
escaped blanks and continued lines vanish from its tree, so every byte between two tokens must be a blank.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

MOST_CHARACTERS = 65536
_PLAIN = re.compile(r"[A-Za-z0-9_./:=,@%+~^*?-]+")
_TILDE = re.compile(r"(^|[:=,])~")
_ESCAPED = {"\\(": "(", "\\)": ")", "\\;": ";", "\\!": "!", "{}": "{}"}
_JOINTS = {"&&", "||", ";", "|", "|&", "\n"}
_REDIRECTIONS = {">", ">>", "<", "&>", "&>>", ">&", "<&"}
_TRANSPARENT = {"program", "list", "pipeline", "redirected_statement"}


class Word(Struct, frozen=True):
    """One word after quotes are gone. A glob may become any number of file names."""

    text: str
    glob: bool = False


class Simple(Struct, frozen=True):
    """One command of a list. `piped` says that a pipe is before or behind it."""

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
    """The text is not in the subset; the message says what is not."""


def odd_character(text: str) -> str | None:
    """The first character a person would not see, or would see somewhere else."""
    for each in text:
        if each not in "\t\n" and (unicodedata.category(each)[0] == "C" or (each != " " and each.isspace())):
            return f"U+{ord(each):04X}"
    return None


def parse(text: str) -> "Tree":
    return _parser().parse(text.encode())


@cache
def _parser() -> "Parser":
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def read_script(text: str, tree: "Tree") -> Script:
    """The commands of a text that is literal from the first byte to the last."""
    if tree.root_node.has_error:
        raise NotLiteral("it cannot be parsed")
    source = text.encode()
    commands: list[Simple] = []
    redirections: list[Redirection] = []
    joint = "\n"
    end = 0
    for token in _tokens(tree.root_node):
        gap = source[end : token.start_byte]
        if gap.strip(b" \t\n"):
            raise NotLiteral("it holds an escape")
        joint = "\n" if b"\n" in gap and token.type not in _JOINTS else joint
        match token.type:
            case "command":
                if not joint:
                    raise NotLiteral("it cannot be parsed")
                commands.append(_command(token, source, piped=joint in ("|", "|&")))
                joint = ""
            case "file_redirect":
                if joint or not gap:
                    raise NotLiteral("a redirection stands alone")
                redirections.append(_redirection(token, source))
            case "comment":
                if source[token.start_byte - 1 : token.start_byte] not in (b"", b" ", b"\t", b"\n"):
                    raise NotLiteral("it cannot be parsed")
            case operator:
                joint = operator
                if operator in ("|", "|&") and commands:
                    last = commands[-1]
                    commands[-1] = Simple(last.words, last.assignments, piped=True)
        end = token.end_byte
    if source[end:].strip(b" \t\n"):
        raise NotLiteral("it holds an escape")
    if not commands:
        raise NotLiteral("it is empty")
    return Script(tuple(commands), tuple(redirections))


def _tokens(node: "Node") -> "Iterator[Node]":
    """In the order they are written. Lists nest as deep as they are long, so this does not recurse."""
    nodes = [node]
    while nodes:
        child = nodes.pop()
        if child.type in _TRANSPARENT:
            nodes += reversed(child.children)
        elif child.type in _JOINTS or child.type in ("command", "file_redirect", "comment"):
            yield child
        else:
            raise NotLiteral(_name_of(child))


def _command(node: "Node", source: bytes, piped: bool) -> Simple:
    words: list[Word] = []
    assignments: list[tuple[str, str]] = []
    end = node.start_byte
    for child in node.children:
        gap = source[end : child.start_byte]
        if (child.start_byte != node.start_byte and not gap) or gap.strip(b" \t"):
            raise NotLiteral("it holds an escape")
        if child.type == "variable_assignment":
            assignments.append(_assignment(child, source))
        else:
            words.append(_word(child.children[0] if child.type == "command_name" else child, source))
        end = child.end_byte
    if not words or words[0].glob:
        raise NotLiteral("the program is not a plain word")
    return Simple(tuple(words), tuple(assignments), piped)


def _assignment(node: "Node", source: bytes) -> tuple[str, str]:
    if [child.type for child in node.children][:2] != ["variable_name", "="] or len(node.children) != 3:
        raise NotLiteral("it sets a variable")
    name, equals, value = node.children
    if name.end_byte != equals.start_byte or equals.end_byte != value.start_byte:
        raise NotLiteral("it sets a variable")
    word = _word(value, source)
    if word.glob:
        raise NotLiteral("it sets a variable")
    return source[name.start_byte : name.end_byte].decode(), word.text


def _redirection(node: "Node", source: bytes) -> Redirection:
    children = [child for child in node.children if child.type != "file_descriptor"]
    if len(children) != 2 or children[0].type not in _REDIRECTIONS:
        raise NotLiteral("it redirects in an unusual way")
    descriptor = source[node.start_byte : children[0].start_byte]
    if descriptor not in (b"", b"0", b"1", b"2"):
        raise NotLiteral("it redirects in an unusual way")
    if source[children[0].end_byte : children[1].start_byte].strip(b" \t"):
        raise NotLiteral("it holds an escape")
    target = _word(children[1], source)
    if target.glob:
        raise NotLiteral("it redirects to a pattern")
    return Redirection(children[0].type, target.text)


def _word(node: "Node", source: bytes) -> Word:
    text = source[node.start_byte : node.end_byte].decode()
    match node.type:
        case "raw_string":
            return Word(text[1:-1])
        case "string":
            if any(child.type not in ('"', "string_content") for child in node.children) or set(text) & set("\\$`"):
                raise NotLiteral("it holds an expansion")
            return Word(text[1:-1])
        case "concatenation" if text not in _ESCAPED:
            return _joined(node, source)
        case "word" | "number" | "concatenation":
            return _plain(text)
        case _:
            raise NotLiteral(_name_of(node))


def _joined(node: "Node", source: bytes) -> Word:
    if _TILDE.search(source[node.start_byte : node.end_byte].decode()):
        raise NotLiteral("it holds an expansion")
    parts: list[Word] = []
    end = node.start_byte
    for child in node.children:
        if child.start_byte != end or child.type == "concatenation":
            raise NotLiteral("it holds an escape")
        parts.append(_word(child, source))
        end = child.end_byte
    if end != node.end_byte:
        raise NotLiteral("it holds an escape")
    return Word("".join(part.text for part in parts), any(part.glob for part in parts))


def _plain(text: str) -> Word:
    if text in _ESCAPED:
        return Word(_ESCAPED[text])
    if not _PLAIN.fullmatch(text):
        raise NotLiteral("it holds an escape, a brace or another special character")
    if _TILDE.search(text):
        raise NotLiteral("it names a home folder")
    return Word(text, glob="*" in text or "?" in text)


_NAMES = {
    "command_substitution": "it runs a command inside another",
    "process_substitution": "it runs a command inside another",
    "simple_expansion": "it holds an expansion",
    "expansion": "it holds an expansion",
    "arithmetic_expansion": "it holds an expansion",
    "ansi_c_string": "it holds an escape",
    "translated_string": "it holds an expansion",
    "variable_assignment": "it sets a variable",
    "variable_assignments": "it sets a variable",
    "declaration_command": "it sets a variable",
    "unset_command": "it sets a variable",
    "function_definition": "it defines a function",
    "heredoc_redirect": "it holds a here document",
    "herestring_redirect": "it holds a here string",
    "&": "it leaves something running",
}


def _name_of(node: "Node") -> str:
    return _NAMES.get(node.type, "it is more than a list of plain commands")
