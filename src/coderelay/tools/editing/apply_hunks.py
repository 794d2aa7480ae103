"""Applies the hunks of a patch to a text. Their lines must match exactly, but may be at other line numbers."""

from collections.abc import Sequence

from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say
from coderelay.tools.editing.closest_match import closest_match
from coderelay.tools.editing.patch_parser import Hunk
from coderelay.workspace.files.line_diff import with_ends

_LISTED = 5


def apply_hunks(text: str, hunks: Sequence[Hunk], shown: str) -> str:
    """Raises ToolFailed if a hunk matches nowhere; the message shows the most similar place."""
    places = _Places(with_ends(text), shown)
    for hunk in hunks:
        places.add(hunk)
    return places.text()


class _Places:
    """The places of the hunks, in line numbers of the original text. No two hunks may overlap."""

    def __init__(self, lines: list[str], shown: str) -> None:
        self._lines = lines
        self._plain = [line.rstrip("\r\n") for line in lines]
        self._shown = shown
        self._where: dict[str, list[int]] = {}
        for at, line in enumerate(self._plain):
            self._where.setdefault(line, []).append(at)
        self._found: list[tuple[int, int, list[str]]] = []
        self._drift = 0

    def text(self) -> str:
        result: list[str] = []
        at = 0
        for start, end, new in sorted(self._found, key=lambda each: each[:2]):
            result += self._lines[at:start]
            result += new
            at = end
        return "".join(self._ended([*result, *self._lines[at:]]))

    def add(self, hunk: Hunk) -> None:
        old = hunk.old
        start = self._place(hunk, old) if old else self._insertion(hunk)
        if not self._is_free(start, start + len(old)):
            raise ToolFailed(
                say(
                    "two changes to {path} overlap at line {number}; combine them", path=self._shown, number=start + 1
                )
            )
        if hunk.start is not None:
            self._drift = start - hunk.start
        new = self._replaced(hunk, start)
        self._found.append((start, start + len(old), new))

    def _place(self, hunk: Hunk, old: list[str]) -> int:
        places = [at for at in self._candidates(old) if self._is_free(at, at + len(old))]
        exact = [at for at in places if self._lines[at : at + len(old)] == old]
        places = exact or places
        if not places:
            near, detail = closest_match(self._plain, [line.rstrip("\r\n") for line in old])
            raise ToolFailed(say("a change does not fit {path}: {rest}", path=self._shown, rest=near), detail=detail)
        if hunk.start is not None:
            wanted = hunk.start + self._drift
            return min(places, key=lambda at: (abs(at - wanted), at))
        return self._only(hunk, [at for at in places if at >= self._from(hunk)] or places, len(old))

    def _only(self, hunk: Hunk, places: list[int], length: int) -> int:
        at_end = [at for at in places if at + length == len(self._lines)] if hunk.at_end else []
        places = at_end or places
        if len(places) == 1:
            return places[0]
        listed = ", ".join(str(at + 1) for at in places[:_LISTED]) + (", …" if len(places) > _LISTED else "")
        raise ToolFailed(
            say(
                "a change fits {path} in {count} places (lines {lines}); give more lines around it",
                path=self._shown,
                count=len(places),
                lines=listed,
            )
        )

    def _candidates(self, old: list[str]) -> list[int]:
        """The places where the old lines match, found by the rarest of these lines. Line endings only serve to choose
        between several places."""
        wanted = [line.rstrip("\r\n") for line in old]
        rarest = min(range(len(wanted)), key=lambda number: len(self._where.get(wanted[number], ())))
        starts = [at - rarest for at in self._where.get(wanted[rarest], ())]
        return [at for at in starts if at >= 0 and self._plain[at : at + len(wanted)] == wanted]

    def _is_free(self, start: int, end: int) -> bool:
        return all(end <= other or other_end <= start for other, other_end, _ in self._found)

    def _insertion(self, hunk: Hunk) -> int:
        """The place of a hunk without old lines: its line number, below the lines it names after `@@`, or else the
        end."""
        if hunk.start is None:
            return self._from(hunk) if hunk.below else len(self._lines)
        if hunk.start > len(self._lines):
            raise ToolFailed(
                say(
                    "a change goes after line {number}, but {path} has {count} lines",
                    number=hunk.start,
                    path=self._shown,
                    count=len(self._lines),
                )
            )
        return hunk.start

    def _from(self, hunk: Hunk) -> int:
        """The first possible line: after the previous changes, and below the lines that the hunk names after `@@`."""
        at = max((end for _, end, _ in self._found), default=0)
        for line in hunk.below:
            found = [place for place in self._below(line) if place >= at] or self._below(line)
            if not found:
                raise ToolFailed(
                    say(
                        "{path} has no line {line}, which the patch names after @@", path=self._shown, line=repr(line)
                    )
                )
            at = found[0] + 1
        return at

    def _below(self, line: str) -> list[int]:
        return self._where.get(line) or [at for at, each in enumerate(self._plain) if each.strip() == line.strip()]

    def _replaced(self, hunk: Hunk, start: int) -> list[str]:
        """The lines that replace the old ones. Context lines are taken from the file. Added lines get the line
        endings used there, unless the patch shows that it knows them."""
        old = hunk.old
        knows = (
            any(line.endswith(("\r\n", "\r")) for line in old) or self._lines[start : start + len(old)] == old != []
        )
        returns = not knows and self._has_returns(start)
        result: list[str] = []
        at = start
        for mark, line in hunk.lines:
            if mark == "+":
                result.append(line.removesuffix("\n") + "\r\n" if returns and line.endswith("\n") else line)
            else:
                result += self._lines[at : at + 1] if mark == " " else []
                at += 1
        old_end = self._lines[at - 1 : at]
        ends_open = bool(old_end) and at > start and at == len(self._lines) and not old_end[0].endswith("\n")
        if ends_open and result and old[-1].endswith("\n"):
            result[-1] = result[-1].rstrip("\r\n")  # the file keeps its missing final newline
        return result

    def _has_returns(self, start: int) -> bool:
        near = self._lines[start : start + 1] or self._lines[start - 1 : start]
        return bool(near) and near[0].endswith("\r\n")

    def _ended(self, lines: list[str]) -> list[str]:
        """Add missing line ends: only the last line may be without one."""
        return [line if line.endswith("\n") or at == len(lines) else f"{line}\n" for at, line in enumerate(lines, 1)]
