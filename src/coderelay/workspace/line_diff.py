"""Two texts, and what is different between them, as a unified diff."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_CONTEXT = 3
_COMPARED = 1_000_000  # pairs of lines, at most; more is shown as replaced whole


class Difference(NamedTuple):
    """Lines `start` to `end` of the one text stand where `other_start` to `other_end` of the other do."""

    start: int
    end: int
    other_start: int
    other_end: int


def differences(before: Sequence[str], after: Sequence[str]) -> list[Difference]:
    """What is alike at both ends is not compared, so that a small change in a long file costs little."""
    shorter = min(len(before), len(after))
    head = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    rest = shorter - head
    tail = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return []
    if not old or not new or len(old) * len(new) > _COMPARED:
        return [Difference(head, head + len(old), head, head + len(new))]
    codes = SequenceMatcher(None, old, new).get_opcodes()
    return [Difference(head + a, head + b, head + c, head + d) for tag, a, b, c, d in codes if tag != "equal"]


def count_changes(changes: Sequence[Difference]) -> tuple[int, int]:
    """How many lines were added, and how many removed."""
    return sum(each.other_end - each.other_start for each in changes), sum(each.end - each.start for each in changes)


def hunks(before: Sequence[str], after: Sequence[str], changes: Sequence[Difference]) -> Iterator[str]:
    """Each with its head and the lines around it. The lines come with their ends."""
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
    """None is a file that is not there."""
    old, new = with_ends(before or ""), with_ends(after or "")
    body = "".join(hunks(old, new, differences(old, new)))
    if not body and before is not None and after is not None and not new_name:
        return ""
    was = "/dev/null" if before is None else f"a/{name}"
    now = "/dev/null" if after is None else f"b/{new_name or name}"
    return f"--- {was}\n+++ {now}\n{body}"


def cut(diff: str, most: int) -> str:
    """Whole lines, and a note of how many more there are."""
    if len(diff.encode()) <= most:
        return diff
    kept = diff.encode()[:most].decode("utf-8", "ignore")
    kept = kept[: kept.rfind("\n") + 1]
    return f"{kept}… ({diff.count(chr(10)) - kept.count(chr(10))} more lines)\n"


def with_ends(text: str) -> list[str]:
    """Only a line feed ends a line."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _groups(changes: Sequence[Difference]) -> Iterator[list[Difference]]:
    """Changes whose surroundings touch share a hunk."""
    group: list[Difference] = []
    for change in changes:
        if group and change.start - group[-1].end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _range(start: int, end: int) -> str:
    """Counted from 1; an empty range is said to be after the line before it."""
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + (length > 0)},{length}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
