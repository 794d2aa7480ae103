"""Fuzzy matching and ranking of names, for completion."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from heapq import nsmallest

_SLICE = 1000
_MOST_RANKED = 20_000
_BORDERS = "/_-. "
_Rank = tuple[int, int, int, str]
_Name = tuple[str, str]


class FuzzyIndex:
    """A list of names to search. It is fast enough to search 50,000 names between two key presses."""

    def __init__(self, names: Iterable[str]) -> None:
        self._all = [(name.casefold(), name) for name in names]
        self._narrowed: tuple[str, list[_Name]] = ("", self._all)

    async def best(self, wanted: str, most: int) -> list[str]:
        """The best names that contain the wanted letters in order. Yields to the event loop while it searches."""
        wanted = wanted.casefold()
        before, among = self._narrowed
        fits = _in_order(wanted).match
        found: list[_Name] = []
        for part in _slices(among if wanted.startswith(before) else self._all):
            found += [each for each in part if fits(each[0])]
            await asyncio.sleep(0)
        self._narrowed = (wanted, found)
        whole = [each for each in found if wanted in each[0]]
        if len(whole) < most:  # scattered matches are ranked only if there are too few substring matches
            whole += [each for each in found if wanted not in each[0]][:_MOST_RANKED]
        ranked: list[tuple[_Rank, str]] = []
        for part in _slices(whole):
            ranked = nsmallest(most, [*ranked, *((rank(folded, wanted), name) for folded, name in part)])
            await asyncio.sleep(0)
        return [name for _, name in ranked]


def best_of(names: Sequence[str], wanted: str) -> list[str]:
    """All matches among a few names, the best first; all names in their own order if `wanted` is empty."""
    if not wanted:
        return list(names)
    wanted = wanted.casefold()
    fits = _in_order(wanted).match
    return sorted((each for each in names if fits(each.casefold())), key=lambda each: rank(each.casefold(), wanted))


def rank(name: str, wanted: str) -> _Rank:
    """The rank of a name that contains all the letters; lower is better. Matches in the last part of a path rank
    highest, unless `wanted` is itself a path. If `wanted` is empty, names in the top folders rank highest."""
    if not wanted:
        return (name.count("/", 0, len(name) - 1), name.startswith("."), 0, name)
    if name.startswith(wanted) and "/" in wanted:
        return (0, len(name), 0, name)
    last = name.rfind("/", 0, len(name) - 1) + 1
    if name.startswith(wanted, last):
        rest = name[last + len(wanted) :]
        return (1 if rest in ("", "/") or rest.startswith(".") else 2, len(name), 0, name)
    if name.find(wanted, last) >= 0:
        return (3, len(name), 0, name)
    if wanted in name:
        return (4 if name.startswith(wanted) else 5, len(name), 0, name)
    loose, jumps = _scattered(name, wanted)
    return (6 + loose, jumps, len(name), name)


def _scattered(name: str, wanted: str) -> tuple[int, int]:
    """For a scattered match: the number of letters that neither begin a word nor follow the previous match, and the
    number of gaps."""
    return _walk(name, wanted, by_word=True) or _walk(name, wanted, by_word=False) or (len(wanted), len(wanted))


def _walk(name: str, wanted: str, *, by_word: bool) -> tuple[int, int] | None:
    """Match the letters one by one. `by_word` prefers the beginnings of words, which may end without a match
    (None)."""
    at = loose = jumps = 0
    for letter in wanted:
        if name.startswith(letter, at):
            at += 1
            continue
        start = _word_with(letter, name, at) if by_word else -1
        if start < 0:
            start = name.find(letter, at)
            if start < 0:
                return None
            loose += start == 0 or name[start - 1] not in _BORDERS
        jumps += 1
        at = start + 1
    return loose, jumps


def _word_with(letter: str, name: str, at: int) -> int:
    found = [start + 1 for border in _BORDERS if (start := name.find(border + letter, at)) >= 0]
    return min(found, default=-1)


def _slices(names: list[_Name]) -> Iterable[list[_Name]]:
    return (names[first : first + _SLICE] for first in range(0, len(names), _SLICE))


def _in_order(wanted: str) -> re.Pattern[str]:
    return re.compile("".join(f"[^{re.escape(each)}]*+{re.escape(each)}" for each in wanted), re.DOTALL)
