"""Finds the place in a file most similar to lines that are not in it, and describes the differences."""

import re
from collections import Counter
from collections.abc import Sequence

from coderelay.protocol.translatable import say

_SHOWN_LINES = 12
_SHOWN_CHARS = 200
_COMPARED = 3000  # lines at most, if none of the wanted lines is in the file
_ALIKE = 0.6
_SPACES = re.compile(r"\s+")
_QUOTES = str.maketrans("‘’‚“”„`«»", '\'\'\'"""\'""')
_DASHES = str.maketrans("–—−", "---")


def closest_match(lines: Sequence[str], wanted: Sequence[str]) -> tuple[str, str]:
    """A sentence about the most similar place, and its lines, numbered as `read` does. Lines are given without line
    endings."""
    start = _start(lines, wanted)
    if start is None:
        return "nothing in the file is similar; read the file again", ""
    here = lines[start : start + len(wanted)]
    pairs = zip(here, wanted, strict=False)
    found = [_difference(number, mine, each) for number, (mine, each) in enumerate(pairs, start + 1)]
    differing = [each for each in found if each]
    if len(here) < len(wanted):
        differing.append(f"the file ends after line {len(lines)}")
    shown = [f"{number}\t{_short(line)}" for number, line in enumerate(here, start + 1)]
    where = (
        say("line {number}", number=start + 1)
        if len(here) == 1
        else say("lines {count}-{number}", count=start + 1, number=start + len(here))
    )
    return say("the nearest place is {rest}:", rest=where), "\n".join([*_few(shown), *_few(differing)])


def _start(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """The line where most of the wanted lines match, ignoring whitespace; else the place given by the line most
    similar to the longest of them."""
    places: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        places.setdefault(_plain(line), []).append(at)
    votes: Counter[int] = Counter()
    for number, line in enumerate(wanted):
        found = places.get(_plain(line), []) if line.strip() else []
        if len(found) <= _COMPARED:
            votes.update({at - number: len(line) for at in found if at >= number})
    if votes:
        best = max(votes.values())
        return min(at for at, count in votes.items() if count == best)
    return _line_most_like_longest(lines, wanted)


def _line_most_like_longest(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    number = max(range(len(wanted)), key=lambda each: len(wanted[each].strip()), default=0)
    longest = wanted[number].strip() if wanted else ""
    if not longest:
        return None
    from difflib import SequenceMatcher  # imported late: most runs never get here

    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(longest[:_SHOWN_CHARS])
    best, best_at = _ALIKE, None
    for at, line in enumerate(lines[:_COMPARED]):
        matcher.set_seq1(line.strip()[:_SHOWN_CHARS])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
            best, best_at = matcher.ratio(), at
    return None if best_at is None else max(best_at - number, 0)


def _difference(number: int, here: str, wanted: str) -> str:
    if here == wanted:
        return ""
    what = _what(here, wanted)
    return f"line {number} differs in {what}: you gave {_short(wanted)!r}, the file has {_short(here)!r}"


def _what(here: str, wanted: str) -> str:
    if here.rstrip() == wanted.rstrip():
        return "blanks at its end"
    if here.strip() == wanted.strip():
        return "its indentation"
    if _SPACES.sub("", here) == _SPACES.sub("", wanted):
        return "its blanks"
    if here.translate(_QUOTES).replace('"', "'") == wanted.translate(_QUOTES).replace('"', "'"):
        return "its quotes"
    return "its dashes" if here.translate(_DASHES) == wanted.translate(_DASHES) else "its text"


def _plain(line: str) -> str:
    return _SPACES.sub(" ", line.strip()).translate(_QUOTES).replace('"', "'")


def _few(lines: list[str]) -> list[str]:
    return lines if len(lines) <= _SHOWN_LINES else [*lines[:_SHOWN_LINES], f"… ({len(lines) - _SHOWN_LINES} more)"]


def _short(line: str) -> str:
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"
