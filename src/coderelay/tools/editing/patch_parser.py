"""Parses patches as models write them: unified diffs, git's extensions, and the apply_patch envelope.

--- a/old.py                     *** Begin Patch
+++ b/old.py                     *** Update File: old.py
@@ -1,2 +1,2 @@                  @@ def f():
 a line that stays                a line that stays
-a line that goes                -a line that goes
+a line that comes               +a line that comes
                                 *** End Patch
"""

import re
from typing import Literal

from msgspec import Struct, field

from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say

Mark = Literal[" ", "-", "+"]


class Hunk(Struct):
    """One hunk; `lines` include their line ends. `start` is where a unified diff says that it begins, counted from 0.
    `below` are the lines after `@@` in the envelope; the hunk is somewhere below them."""

    lines: list[tuple[Mark, str]] = field(default_factory=list[tuple[Mark, str]])
    start: int | None = None
    below: tuple[str, ...] = ()
    at_end: bool = False

    @property
    def old(self) -> list[str]:
        return [line for mark, line in self.lines if mark != "+"]

    @property
    def new(self) -> list[str]:
        return [line for mark, line in self.lines if mark != "-"]


class FilePatch(Struct):
    """The change of one file. `to` is its new path if it is moved; `mode` is a file mode that the patch asks for."""

    kind: Literal["add", "update", "delete"]
    path: str
    to: str = ""
    hunks: list[Hunk] = field(default_factory=list[Hunk])
    mode: str = ""


def parse_patch(text: str) -> list[FilePatch]:
    """Raises ToolFailed if the text is not a patch."""
    lines = _without_fence(text.split("\n"))
    begin = next((at for at, line in enumerate(lines) if line.strip() == _BEGIN), None)
    patches = _Envelope(lines[begin + 1 :]).parse() if begin is not None else _Unified(lines).parse()
    if not patches:
        raise ToolFailed(
            "not a patch: it must be a unified diff (--- a/file, +++ b/file, @@ …) or begin with *** Begin Patch"
        )
    return patches


_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _UPDATE, _DELETE = "*** Add File: ", "*** Update File: ", "*** Delete File: "
_MOVE, _END_OF_FILE = "*** Move to: ", "*** End of File"
_NOWHERE = "/dev/null"
_NO_NEWLINE = "\\"
_SIGNATURE, _VERSION = "-- ", re.compile(r"\d+\.\d+")  # the signature at the end of a patch mail from git
_RANGES = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_MARKS: dict[str, Mark] = {" ": " ", "-": "-", "+": "+"}


def _without_fence(lines: list[str]) -> list[str]:
    """Remove a Markdown code fence around the patch: models like to add one."""
    filled = [at for at, line in enumerate(lines) if line.strip()]
    if len(filled) > 1 and lines[filled[0]].startswith("```") and lines[filled[-1]].strip() == "```":
        return lines[filled[0] + 1 : filled[-1]]
    return lines


class _Envelope:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def parse(self) -> list[FilePatch]:
        patches: list[FilePatch] = []
        while True:
            line = self._next()
            if line is None:
                raise ToolFailed(say("the patch does not end with {end}", end=_END))
            if line.strip() == _END:
                return patches
            if line.startswith(_ADD):
                patches.append(FilePatch("add", line.removeprefix(_ADD).strip(), hunks=[self._added()]))
            elif line.startswith(_DELETE):
                patches.append(FilePatch("delete", line.removeprefix(_DELETE).strip()))
            elif line.startswith(_UPDATE):
                patches.append(self._updated(line.removeprefix(_UPDATE).strip()))
            elif line.strip():
                raise ToolFailed(
                    say(
                        "line {number} of the patch should name a file (*** Add File: …, *** Update File: …, "
                        "*** Delete File: …), but is: {line}",
                        number=self._at,
                        line=line,
                    )
                )

    def _next(self) -> str | None:
        if self._at >= len(self._lines):
            return None
        self._at += 1
        return self._lines[self._at - 1]

    def _body(self) -> str | None:
        """The next line if it belongs to the same file, else None."""
        if self._at < len(self._lines) and not self._lines[self._at].startswith("*** "):
            return self._next()
        return None

    def _added(self) -> Hunk:
        hunk = Hunk()
        while (line := self._body()) is not None:
            if line[:1] == "+":
                hunk.lines.append(("+", f"{line[1:]}\n"))
            elif line.strip():
                raise ToolFailed(
                    say("every line of a file that is added begins with +, but one is: {line}", line=line)
                )
        return hunk

    def _updated(self, path: str) -> FilePatch:
        patch = FilePatch("update", path)
        if self._at < len(self._lines) and self._lines[self._at].startswith(_MOVE):
            patch.to = (self._next() or "").removeprefix(_MOVE).strip()
        hunk = Hunk()
        while True:
            line = self._body()
            if line is None and self._at < len(self._lines) and self._lines[self._at].strip() == _END_OF_FILE:
                self._next()
                hunk.at_end = True
            elif line is None:
                break
            elif line.startswith("@@"):
                hunk = _after(hunk, patch.hunks)
                below = line.removeprefix("@@").strip().removesuffix("@@").strip()
                hunk.below += (below,) if below else ()
            elif line[:1] in _MARKS:
                hunk.lines.append((_MARKS[line[0]], f"{line[1:]}\n"))
            elif not line:
                hunk.lines.append((" ", "\n"))
            else:
                raise ToolFailed(say("a line of the patch begins with neither a space, + nor -: {line}", line=line))
        _after(hunk, patch.hunks)
        if not patch.hunks and not patch.to:
            raise ToolFailed(say("the patch says nothing of what is to change in {path}", path=path))
        return patch


def _after(hunk: Hunk, done: list[Hunk]) -> Hunk:
    """Finish a hunk that has lines and return a new one; an empty hunk is returned as it is."""
    if not hunk.lines:
        return hunk
    done.append(hunk)
    return Hunk()


class _Unified:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self._patches: list[FilePatch] = []
        self._among_words = True

    def parse(self) -> list[FilePatch]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("diff --git "):
                self._git(line)
            elif self._is_head():
                self._names(FilePatch("update", ""))
            elif line.startswith("@@"):
                raise ToolFailed(
                    say(
                        "line {number} of the patch begins a change, but no file was named before it",
                        number=self._at + 1,
                    )
                )
            else:
                self._pass_words(line)
        return self._patches

    def _pass_words(self, line: str) -> None:
        """Skip prose around patches. A line directly after a hunk is refused, because it may be a part of the
        hunk."""
        self._among_words = self._among_words or line == _SIGNATURE or line.startswith("```")
        if line.strip() and not self._among_words:
            raise ToolFailed(
                say(
                    "line {number} of the patch begins with neither a space, + nor -: {line}",
                    number=self._at + 1,
                    line=line,
                )
            )
        self._at += 1

    def _is_head(self) -> bool:
        following = self._lines[self._at + 1] if self._at + 1 < len(self._lines) else ""
        return self._lines[self._at].startswith("--- ") and following.startswith("+++ ")

    def _git(self, line: str) -> None:
        """Read git's extended header, which comes before the file names, or in their place if no line changes."""
        path = _common_name(line.removeprefix("diff --git "))
        patch = FilePatch("update", path)
        self._at += 1
        while self._at < len(self._lines) and not self._lines[self._at].startswith("diff --git "):
            if self._is_head():
                self._names(patch)
                return
            _note_git(patch, self._lines[self._at])
            self._at += 1
        if patch.kind != "update" or patch.to or patch.mode:
            self._patches.append(patch)

    def _names(self, patch: FilePatch) -> None:
        old, new = _name(self._lines[self._at][4:]), _name(self._lines[self._at + 1][4:])
        self._at += 2
        if _has_prefixes(old, new):
            old, new = (each if each == _NOWHERE else each[2:] for each in (old, new))
        if old == _NOWHERE:
            patch.kind, patch.path = "add", new
        elif new == _NOWHERE:
            patch.kind, patch.path = "delete", old
        elif not patch.to:
            patch.path, patch.to = old, new if new != old else ""
        while self._at < len(self._lines) and self._lines[self._at].startswith("@@"):
            patch.hunks.append(self._hunk())
            self._among_words = False
        self._patches.append(patch)

    def _hunk(self) -> Hunk:
        head = self._lines[self._at]
        self._at += 1
        ranges = _RANGES.match(head)
        if ranges is None:
            hunk, self._at = self._until_next(self._at)
            below = head.strip("@ ")
            hunk.below = (below,) if below else ()
            return hunk
        old = 1 if ranges[2] is None else int(ranges[2])
        new = 1 if ranges[4] is None else int(ranges[4])
        counted = self._counted(self._at, old, new)
        hunk, self._at = counted if counted is not None else self._until_next(self._at)
        hunk.start = max(int(ranges[1]) - (old > 0), 0)
        return hunk

    def _counted(self, at: int, old: int, new: int) -> tuple[Hunk, int] | None:
        """Read as many lines as the hunk header says; None if the lines do not match it, because models cannot
        count."""
        hunk = Hunk()
        while old > 0 or new > 0:
            line = self._lines[at] if at < len(self._lines) else "?"
            mark = _MARKS.get(line[:1] or " ")
            if line.startswith(_NO_NEWLINE) and hunk.lines:
                _cut_end(hunk)
            elif mark is None:
                return None
            else:
                old -= mark != "+"
                new -= mark != "-"
                hunk.lines.append((mark, f"{line[1:]}\n"))
            at += 1
        if at < len(self._lines) and self._lines[at].startswith(_NO_NEWLINE):
            _cut_end(hunk)
            at += 1
        if old or new or (at < len(self._lines) and self._belongs(at) and self._lines[at]):
            return None
        return hunk, at

    def _until_next(self, at: int) -> tuple[Hunk, int]:
        hunk = Hunk()
        while at < len(self._lines) and self._belongs(at):
            line = self._lines[at]
            if line.startswith(_NO_NEWLINE):
                _cut_end(hunk)
            else:
                hunk.lines.append((_MARKS.get(line[:1], " "), f"{line[1:]}\n"))
            at += 1
        while hunk.lines and hunk.lines[-1] == (" ", "\n"):
            hunk.lines.pop()  # more likely the end of the patch than empty lines of the file
        return hunk, at

    def _belongs(self, at: int) -> bool:
        line = self._lines[at]
        following = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        if line.startswith("--- ") and following.startswith("+++ "):
            return False
        if line == _SIGNATURE and _VERSION.match(following):
            return False
        return line[:1] in ("", " ", "-", "+", _NO_NEWLINE)


def _cut_end(hunk: Hunk) -> None:
    if hunk.lines:
        mark, line = hunk.lines[-1]
        hunk.lines[-1] = (mark, line.removesuffix("\n"))


def _has_prefixes(old: str, new: str) -> bool:
    return (old == _NOWHERE or old.startswith("a/")) and (new == _NOWHERE or new.startswith("b/"))


def _name(text: str) -> str:
    """The file name of a `---` or `+++` line. A timestamp after a tab is dropped."""
    return _unquoted(text) if text.startswith('"') else text.partition("\t")[0].rstrip("\r")


def _common_name(text: str) -> str:
    """The name in `a/x b/x`. Names that differ are repeated in later lines, so here they are taken to be the same."""
    if text.startswith('"'):
        old = new = _unquoted(text)
    else:
        middle = len(text) // 2
        old, new = text[:middle], text[middle + 1 :]
    return old[2:] if old.startswith("a/") and (new.startswith("b/") or old is new) else old


def _note_git(patch: FilePatch, line: str) -> None:
    if line.startswith("new file mode "):
        patch.kind, patch.mode = "add", _unusual_mode(line)
    elif line.startswith("deleted file mode "):
        patch.kind = "delete"
    elif line.startswith("new mode "):
        patch.mode = line.removeprefix("new mode ").strip()
    elif line.startswith("rename from "):
        patch.path = _name(line.removeprefix("rename from "))
    elif line.startswith("rename to "):
        patch.to = _name(line.removeprefix("rename to "))
    elif line.startswith("copy "):
        raise ToolFailed("the patch copies a file; add the copy as a new file instead")
    elif line.startswith(("Binary files ", "GIT binary patch")):
        raise ToolFailed(say("the patch changes a binary file, {path}; only text can be patched", path=patch.path))


def _unusual_mode(line: str) -> str:
    mode = line.removeprefix("new file mode ").strip()
    return "" if mode == "100644" else mode


_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def _unquoted(text: str) -> str:
    """Decode a quoted name: git writes unusual characters with C escapes."""
    inner = re.match(r'"((?:[^"\\]|\\.)*)"', text)
    if inner is None:
        raise ToolFailed(say("the patch has a name that does not end: {text}", text=text))

    def plain(found: re.Match[bytes]) -> bytes:
        what = found[1]
        return bytes([int(what, 8) & 255]) if len(what) == 3 else _LETTERS.get(what, what)

    return _ESCAPED.sub(plain, inner[1].encode()).decode("utf-8", "surrogateescape")
