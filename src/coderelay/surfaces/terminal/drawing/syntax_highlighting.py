"""Syntax highlighting (pygments), line by line: a line can be shown before the next one is known.

The lexer state at the end of a line, such as an open multi-line comment or string, is carried over to the next line.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from pygments.lexer import ExtendedRegexLexer, Lexer, RegexLexer
from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]  # has no types
from pygments.token import Token
from pygments.util import ClassNotFound

from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.terminal.drawing.ansi_styles import BLUE, BOLD, CYAN, DIM, GREEN, MAGENTA, RED
from coderelay.surfaces.terminal.drawing.wrapping import joined

_STYLES = {
    Token.Comment: DIM,
    Token.Comment.Preproc: MAGENTA,
    Token.Keyword: MAGENTA,
    Token.Keyword.Constant: CYAN,
    Token.Keyword.Type: CYAN,
    Token.Operator.Word: MAGENTA,
    Token.Name.Builtin: CYAN,
    Token.Name.Builtin.Pseudo: CYAN,
    Token.Name.Function: BLUE,
    Token.Name.Class: f"{BOLD};{BLUE}",
    Token.Name.Decorator: MAGENTA,
    Token.Name.Tag: BLUE,
    Token.Name.Attribute: CYAN,
    Token.Name.Variable: CYAN,
    Token.Literal.String: GREEN,
    Token.Literal.Number: CYAN,
    Token.Generic.Deleted: RED,
    Token.Generic.Inserted: GREEN,
    Token.Generic.Heading: BOLD,
    Token.Generic.Subheading: CYAN,
    Token.Generic.Prompt: DIM,
    Token.Generic.Output: "",
    Token: "",
}
_LONGEST = 2000  # characters; longer lines are not highlighted

Pair = tuple[Any, str]
_Lex = Callable[[str], Iterator[Pair]]


class CodeHighlighter:
    """Highlights the lines of one piece of code, in order."""

    def __init__(self, language: str) -> None:
        name = language.split(",")[0].split(" ")[0].strip("{}.").lower()
        self._lex = _lexing(name)
        self._in_comment = False

    def draw(self, line: str) -> str:
        """Draw the next line, given without its line end."""
        if self._lex is None or len(line) > _LONGEST:
            return joined([(visible(line), CYAN)])
        comment, ending, rest = line.partition("*/") if self._in_comment else ("", "", line)
        self._in_comment = self._in_comment and not ending
        if self._in_comment:
            return joined([(visible(line), DIM)])
        pairs = [(token, text) for token, each in self._lex(f"{rest}\n") if (text := each.rstrip("\n"))]
        self._in_comment = bool(pairs) and _is_open_comment(*pairs[-1])
        return joined([(visible(comment + ending), DIM), *((visible(text), _style(token)) for token, text in pairs)])

    def preview(self, line: str) -> str:
        """Draw a line that is not complete yet, without changing the state."""
        kept = self._in_comment, self._lex.states if isinstance(self._lex, _Stateful) else ()
        drawn = self.draw(line)
        self._in_comment = kept[0]
        if isinstance(self._lex, _Stateful):
            self._lex.states = kept[1]
        return drawn


def drawn_code(text: str, language: str) -> list[str]:
    code = CodeHighlighter(language)
    return [code.draw(line) for line in text.split("\n")]


def _is_open_comment(token: Any, text: str) -> bool:
    """Whether a `/* */` comment stays open at the end of the line. Most pygments lexers match such a comment only as
    a whole, so their state does not tell."""
    return token in Token.Comment and text.startswith("/*") and "*/" not in text


@cache
def _style(token: Any) -> str:
    return _STYLES[token] if token in _STYLES else _style(token.parent)


def _lexing(name: str) -> _Lex | None:
    lexer = _lexer(name) if name else None
    if lexer is None:
        return None
    if isinstance(lexer, RegexLexer) and not isinstance(lexer, ExtendedRegexLexer):
        return _Stateful(lexer)
    return lambda line: ((token, text) for _, token, text in lexer.get_tokens_unprocessed(line))


@cache
def _lexer(name: str) -> Lexer | None:
    try:
        return get_lexer_by_name(name)
    except ClassNotFound:
        return None


class _Stateful:
    """A copy of pygments' `RegexLexer.get_tokens_unprocessed` that keeps its state between texts."""

    def __init__(self, lexer: RegexLexer) -> None:
        self._lexer = lexer
        self._rules: dict[str, list[Any]] = getattr(lexer, "_tokens")  # noqa: B009  # private
        self.states: tuple[str, ...] = ("root",)

    def __call__(self, text: str) -> Iterator[Pair]:
        at = 0
        while at < len(text):
            for matches, action, target in self._rules[self.states[-1]]:
                found = matches(text, at)
                if not found:
                    continue
                if type(action) is type(Token):
                    yield action, found.group()
                elif action is not None:
                    yield from ((token, each) for _, token, each in action(self._lexer, found))
                at = found.end()
                self._go(target)
                break
            else:
                if text[at] == "\n":
                    self.states = ("root",)
                yield (Token if text[at] == "\n" else Token.Error), text[at]
                at += 1

    def _go(self, target: Any) -> None:
        """Change the state stack: push one or several states, or pop some."""
        if isinstance(target, int):
            self.states = self.states[: max(1, len(self.states) + target)]
            return
        steps: tuple[str, ...] = (target,) if isinstance(target, str) else target or ()
        for step in steps:
            if step == "#pop":
                self.states = self.states[: max(1, len(self.states) - 1)]
            else:
                self.states = (*self.states, self.states[-1] if step == "#push" else step)
