"""Glob patterns for paths, as git and shells write them: `*`, `?`, `[a-z]`, and `**` for any folders.

Patterns come from models and from repositories, so no pattern may take long to match: a star never tries the same
text twice, and a pattern with several `**` is matched segment by segment.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

_ANY_FOLDERS = "**"
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_MOST_ALTERNATIVES = 256
_NOTHING = "(?!)"
_NAMED_CLASS = re.compile(r"\[:(\w*):\]")


class PathPattern:
    """One glob pattern, matched against whole paths relative to some folder."""

    def __init__(self, pattern: str) -> None:
        segments = pattern.split("/")
        self._segments = [
            each for at, each in enumerate(segments) if each != _ANY_FOLDERS or segments[at - 1 : at] != [each]
        ]
        self._whole = re.compile(self._regex()) if self._segments.count(_ANY_FOLDERS) < 2 else None
        self._steps = [None if each == _ANY_FOLDERS else re.compile(name_regex(each)) for each in self._segments]

    def matches(self, path: str) -> bool:
        if self._whole is not None:
            return self._whole.fullmatch(path) is not None
        return _matches(self._steps, path.split("/"))

    def _regex(self) -> str:
        *folders, last = self._segments
        before = "".join("(?:.*/)?" if each == _ANY_FOLDERS else f"{name_regex(each)}/" for each in folders)
        return f"(?s:{before}{'.+' if last == _ANY_FOLDERS else name_regex(last)})"


class Glob:
    """A glob pattern as people write it: `{a,b}` are alternatives; without a slash it matches a name in any folder.

    Raises ValueError if it expands to too many patterns.
    """

    def __init__(self, pattern: str) -> None:
        plain = re.sub("/+", "/", pattern).removeprefix("./").removeprefix("/")
        anchored = pattern.startswith(("./", "/"))
        plain += "**" if plain.endswith("/") else ""
        self._patterns = [
            PathPattern(each if anchored or "/" in each else f"**/{each}") for each in expand_braces(plain)
        ]

    def matches(self, path: str) -> bool:
        return any(each.matches(path) for each in self._patterns)


def expand_braces(pattern: str) -> list[str]:
    """Expand braces: `a{b,c{d,e}}` is ab, acd and ace. A brace that is not closed, or holds no comma, is an ordinary
    character."""
    done: list[str] = []
    open_ones = [pattern]
    while open_ones:
        pattern = open_ones.pop()
        choice = _first_choice(pattern)
        if choice is None:
            done.append(pattern)
        else:
            start, commas, end = choice
            edges = [start, *commas, end]
            middles = [pattern[one + 1 : other] for one, other in pairwise(edges)]
            open_ones += [pattern[:start] + each + pattern[end + 1 :] for each in reversed(middles)]
        if len(done) + len(open_ones) > _MOST_ALTERNATIVES:
            raise ValueError(f"the pattern stands for more than {_MOST_ALTERNATIVES} patterns")
    return done


def _first_choice(pattern: str) -> tuple[int, list[int], int] | None:
    """The positions of the first outermost braces with a comma: their start, commas and end."""
    open_braces: list[tuple[int, list[int]]] = []
    found: list[tuple[int, list[int], int]] = []
    at = 0
    while at < len(pattern):
        match pattern[at]:
            case "\\":
                at += 1
            case "{":
                open_braces.append((at, []))
            case "," if open_braces:
                open_braces[-1][1].append(at)
            case "}" if open_braces:
                start, commas = open_braces.pop()
                if commas:
                    found.append((start, commas, at))
            case _:
                pass
        at += 1
    return min(found, default=None)


def name_regex(pattern: str) -> str:
    """The regular expression for one path segment. An invalid pattern (`[a`, a backslash at the end) matches
    nothing."""
    pieces, star = [""], False
    at = 0
    while at < len(pattern):
        each, at = pattern[at], at + 1
        if each == "*":
            if not star:
                pieces.append("")
            star = True
            continue
        star = False
        if each == "?":
            pieces[-1] += "[^/]"
        elif each == "[":
            wanted, at = _bracket(pattern, at)
            pieces[-1] += wanted
        elif each == "\\":
            pieces[-1] += re.escape(pattern[at]) if at < len(pattern) else _NOTHING
            at += 1
        else:
            pieces[-1] += re.escape(each)
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    return first + "".join(f"(?>[^/]*?{each})" for each in middle) + f"[^/]*{last}"


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """The regular expression of the bracket expression that begins at `at`, and the position after it."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    ranges: list[str] = []
    first = True
    while first or pattern[at : at + 1] != "]":
        first = False
        if named := _NAMED_CLASS.match(pattern, at):
            if named[1] not in _CLASSES:
                return _NOTHING, len(pattern)
            ranges.append(_CLASSES[named[1]])
            at = named.end()
            continue
        low, at = _character(pattern, at)
        high = low
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in ("]", ""):
            high, at = _character(pattern, at + 1)
        if not low or not high:
            return _NOTHING, len(pattern)
        if low <= high:
            ranges.append(f"{re.escape(low)}-{re.escape(high)}")
    if not ranges:
        return ("[^/]" if negated else _NOTHING), at + 1
    return f"(?!/)[{'^' if negated else ''}{''.join(ranges)}]", at + 1


def _character(pattern: str, at: int) -> tuple[str, int]:
    """One character, which may be escaped, and the position after it; empty at the end of the pattern."""
    if pattern[at : at + 1] == "\\":
        at += 1
    return pattern[at : at + 1], at + 1


def _matches(steps: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    """Match segment by segment. `reached[n]` says that the steps so far match the first n names."""
    reached = [True] + [False] * len(names)
    for number, step in enumerate(steps):
        if step is None:
            last = number == len(steps) - 1
            furthest = next((n for n, each in enumerate(reached) if each), len(names) + 1)
            reached = [n > furthest or (n == furthest and not last) for n in range(len(names) + 1)]
        else:
            after = [
                before and step.fullmatch(name) is not None for before, name in zip(reached, names, strict=False)
            ]
            reached = [False, *after]
    return reached[-1]
