"""The words and nodes of a tree-sitter tree of a command; the words as bash would most likely read them.

They are approximate, for the tolerant walk that only looks for danger (`possible_commands`).
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from coderelay.policy.shell.tree_sitter_bash import language

if TYPE_CHECKING:
    from tree_sitter import Node, Query

_NO_WORDS = {"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"}
_WORDS = ("word", "string", "raw_string", "concatenation")
_EXPANSIONS = {"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion", "brace_expression"}
_SUBSTITUTIONS = ("command_substitution", "process_substitution")
_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST_ALTERNATIVES = 64
_BRACKETS = re.compile(r"\[[^/]*\]")
_NUMBERED = re.compile(
    r"\\(?:(x\{[0-9a-fA-F]{1,8}\}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3})|(.))", re.DOTALL
)


def find_nodes(root: "Node", *types: str) -> "list[Node]":
    """All nodes of these types at any depth, in source order, which the captures of a query do not have."""
    from tree_sitter import QueryCursor

    found = QueryCursor(_query(types)).captures(root).get("found", [])
    return sorted(found, key=lambda node: (node.start_byte, -node.end_byte)) if len(found) > 1 else found


@cache
def _query(types: tuple[str, ...]) -> "Query":
    import tree_sitter

    return tree_sitter.Query(language(), f"[{' '.join(f'({each})' for each in types)}] @found")


def words_of(command: "Node") -> "list[Node]":
    """The words of a command, with those behind a redirection, which the parser takes for more of its targets."""
    words = [child for child in command.children if child.type not in _NO_WORDS]
    statement = command.parent
    if statement is not None and statement.type == "redirected_statement":
        redirects = [child for child in statement.children if child.type == "file_redirect"]
        words += [word for each in redirects for word in each.children_by_field_name("destination")[1:]]
    return words


def all_words(root: "Node") -> list[str]:
    """All words without their quotes, and what is behind the `=` of an option."""
    found: list[str] = []
    for node in find_nodes(root, *_WORDS):
        text = (node.text or b"").decode(errors="replace").replace('"', "").replace("'", "").replace("\\", "")
        found += [text, text.partition("=")[2]] if "=" in text else [text]
    return [text for text in found if text]


def commands_in(root: "Node") -> "Iterator[tuple[tuple[str, ...], bool]]":
    """The words of each command, and whether its output becomes part of another command."""
    end = 0
    for node in find_nodes(root, "command", *_SUBSTITUTIONS):
        if node.type in _SUBSTITUTIONS:
            end = max(end, node.end_byte)
        elif words := tuple(text_of(child) for child in words_of(node)):
            yield words, node.start_byte < end


def globs_in(root: "Node") -> Iterator[str]:
    """What the shell makes of words with wildcards or lists of alternatives, with the wildcards `*` and `?` alone."""
    for node in find_nodes(root, "word", "concatenation"):
        if node.parent is None or node.parent.type != "concatenation":
            word = "".join(map(_unquoted, node.children if node.type == "concatenation" else [node]))
            for each in alternatives(word):
                if each != word or set("*?") & set(each):
                    yield "".join(map(_wild, each))


def alternatives(word: str) -> list[str]:
    """The words that the braces in a word stand for, with the wildcards `*` and `?` alone. If they are many, or a
    range, `*` stands in their place."""
    found: list[str] = []
    rest = [word]
    while rest:
        word = rest.pop()
        braces = next((each for each in _BRACES.finditer(word) if "," in each[1] or ".." in each[1]), None)
        if braces is None:
            found.append(_BRACKETS.sub("*", word))
            continue
        few = braces[1].count(",") + len(rest) + len(found) < _MOST_ALTERNATIVES
        parts = braces[1].split(",") if few and "," in braces[1] else ["*"]
        rest += [word[: braces.start()] + part + word[braces.end() :] for part in parts]
    return found


_LITERAL = {"*": "\ue000", "?": "\ue001", "[": "\ue002", "]": "\ue003", "{": "\ue004", "}": "\ue005", ",": "\ue006"}
_COMPUTED = "\ue007"


def _unquoted(node: "Node") -> str:
    """The text of a part of a word, where characters that are quoted, and so match only themselves, are replaced."""
    if node.type in _EXPANSIONS:
        return "*" if node.type == "brace_expression" else _COMPUTED
    raw = (node.text or b"").decode(errors="replace")
    if node.type == "word":
        return re.sub(r"\\(.)", lambda found: _literal(found[1]), raw, flags=re.DOTALL)
    inside = any(child.type in _EXPANSIONS for child in node.children)
    return _COMPUTED if inside else _literal(text_of(node))


def _literal(text: str) -> str:
    return "".join(_LITERAL.get(each, each) for each in text)


def _wild(character: str) -> str:
    """A quoted character may be matched by `?`, and what an expansion gives by `*`."""
    return "*" if character == _COMPUTED else "?" if character in _LITERAL.values() else character


def text_of(node: "Node") -> str:
    """The text of a word without its quotes and escapes, approximately."""
    if node.type == "command_name" and node.children:
        return text_of(node.children[0])
    raw = (node.text or b"").decode(errors="replace")
    if node.type == "raw_string":
        return raw[1:-1]
    if node.type == "ansi_c_string":
        return _ansi_c(raw[2:-1])
    if node.type == "concatenation":
        return "".join(map(text_of, node.children))
    if node.type == "string":
        return _unescaped(raw[1:-1])
    return _unescaped(raw.replace('"', "").replace("'", ""))


def _ansi_c(text: str) -> str:
    """Decodes what is between `$'` and `'`, where escapes may give characters by their numbers."""

    def letter(found: re.Match[str]) -> str:
        digits = found.group(1)
        if not digits:
            return found.group(2)
        number = int(digits[1:].strip("{}"), 16) if digits[0] in "xuU" else int(digits, 8)
        return chr(number) if number <= sys.maxunicode else "$"

    return _NUMBERED.sub(letter, text)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL) if "\\" in text else text
