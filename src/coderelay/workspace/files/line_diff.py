"""Line diffs: finds the lines that differ between two texts, and prints them as a unified diff."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_CONTEXT = 3
_COMPARED = 40_000  # most pairs of lines that are compared with difflib at once
_DEEPEST = 20


class LineDifference(NamedTuple):
    """Lines `start` to `end` of the first text are replaced by `other_start` to `other_end` of the second."""

    start: int
    end: int
    other_start: int
    other_end: int


def differences(before: Sequence[str], after: Sequence[str]) -> list[LineDifference]:
    """The differing ranges of lines. Fast for texts of any length: lines that occur exactly once in both texts divide
    them into parts, and only short parts are compared line by line (patience diff)."""
    return list(_compare(before, after, LineDifference(0, len(before), 0, len(after)), 0))


def _compare(
    before: Sequence[str], after: Sequence[str], whole: LineDifference, depth: int
) -> Iterator[LineDifference]:
    part = _without_alike_ends(before, after, whole)
    start, end, other_start, other_end = part
    if start == end and other_start == other_end:
        return
    old, new = before[start:end], after[other_start:other_end]
    if len(old) * len(new) <= _COMPARED:
        from difflib import SequenceMatcher  # most runs show no diff

        for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                yield LineDifference(start + a, start + b, other_start + c, other_start + d)
        return
    anchors = _anchors(old, new) if depth < _DEEPEST else []
    if not anchors:
        yield part
        return
    for at, other_at in [*anchors, (len(old), len(new))]:
        piece = LineDifference(start, part.start + at, other_start, part.other_start + other_at)
        yield from _compare(before, after, piece, depth + 1)
        start, other_start = piece.end + 1, piece.other_end + 1


def _without_alike_ends(before: Sequence[str], after: Sequence[str], part: LineDifference) -> LineDifference:
    start, end, other_start, other_end = part
    while start < end and other_start < other_end and before[start] == after[other_start]:
        start, other_start = start + 1, other_start + 1
    while start < end and other_start < other_end and before[end - 1] == after[other_end - 1]:
        end, other_end = end - 1, other_end - 1
    return LineDifference(start, end, other_start, other_end)


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of lines that occur exactly once in both texts: the longest run that has the same order in both."""
    once, other_once = _single(old), _single(new)
    pairs = [(at, other_once[line]) for line, at in once.items() if line in other_once]
    ends: list[int] = []  # by length, the lowest position in `new` at which a run can end
    last: list[int] = []  # the pair at that position
    before: list[int] = []
    for number, (_, other_at) in enumerate(pairs):
        length = bisect_left(ends, other_at)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [other_at]
        last[length : length + 1] = [number]
    run: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _single(lines: Sequence[str]) -> dict[str, int]:
    """The lines that occur exactly once, in their order, with their positions."""
    counts = Counter(lines)
    return {line: at for at, line in enumerate(lines) if counts[line] == 1}


def count_changes(changes: Sequence[LineDifference]) -> tuple[int, int]:
    """The number of lines added, and the number removed."""
    return sum(each.other_end - each.other_start for each in changes), sum(each.end - each.start for each in changes)


def hunks(before: Sequence[str], after: Sequence[str], changes: Sequence[LineDifference]) -> Iterator[str]:
    """The lines of all hunks, each hunk with its header and context. Input lines include their line feeds."""
    for group in _groups(changes):
        first, last = group[0], group[-1]
        lead = min(_CONTEXT, first.start)
        trail = min(_CONTEXT, len(before) - last.end)
        yield (
            f"@@ -{_range(first.start - lead, last.end + trail)}"
            f" +{_range(first.other_start - lead, last.other_end + trail)} @@\n"
        )
        at = first.start - lead
        for change in group:
            yield from _marked(" ", before[at : change.start])
            yield from _marked("-", before[change.start : change.end])
            yield from _marked("+", after[change.other_start : change.other_end])
            at = change.end
        yield from _marked(" ", before[at : at + trail])


def unified_diff(name: str, before: str | None, after: str | None, new_name: str = "") -> str:
    """A unified diff of one file. None stands for a file that does not exist."""
    old, new = with_ends(before or ""), with_ends(after or "")
    body = "".join(hunks(old, new, differences(old, new)))
    if not body and before is not None and after is not None and not new_name:
        return ""
    was = "/dev/null" if before is None else f"a/{name}"
    now = "/dev/null" if after is None else f"b/{new_name or name}"
    return f"--- {was}\n+++ {now}\n{body}"


def cut(diff: str, most: int) -> str:
    """At most `most` bytes of a diff, in whole lines, with a note of how many lines were cut."""
    if len(diff.encode()) <= most:
        return diff
    kept = diff.encode()[:most].decode("utf-8", "ignore")
    kept = kept[: kept.rfind("\n") + 1]
    return f"{kept}… ({diff.count(chr(10)) - kept.count(chr(10))} more lines)\n"


def with_ends(text: str) -> list[str]:
    """The lines of a text with their line feeds. Only a line feed ends a line."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _groups(changes: Sequence[LineDifference]) -> Iterator[list[LineDifference]]:
    """Changes grouped into hunks: those whose context lines touch share one."""
    group: list[LineDifference] = []
    for change in changes:
        if group and change.start - group[-1].end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _range(start: int, end: int) -> str:
    """A range in a hunk header, counted from 1. An empty range names the line before it."""
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + (length > 0)},{length}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
