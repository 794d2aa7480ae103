"""The tree of a bash text, as tree-sitter sees it. The library is loaded with the first text."""

from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Tree

MOST_CHARACTERS = 10_000
"""The longest text that is parsed: the error recovery of the parser takes quadratic time (10,000 brackets one second,
60,000 half a minute)."""


@lru_cache(maxsize=8)
def parse(text: str) -> "Tree":
    """The tree of a text, cached because several checks look at the same command."""
    return _parser().parse(text.encode(errors="replace"))


@cache
def language() -> "Language":
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())


@cache
def _parser() -> "Parser":
    import tree_sitter

    return tree_sitter.Parser(language())
