"""The words and nodes of a tree-sitter tree of a command; the words as bash would most likely read them.

They are approximate, for the tolerant walk that only looks for danger (`possible_commands`).
"""

import re
import sys
from functools import cache
from typing import TYPE_CHECKING

from coderelay.policy.shell.tree_sitter_bash import language

if TYPE_CHECKING:
    from tree_sitter import Node, Query

_NO_WORDS = {"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"}
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
