"""Recognises destructive commands that nobody runs on purpose, and writing to disks and absolute paths."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from coderelay.protocol.translatable import say

_ROOT_OR_HOME = re.compile(
    r"""(?:/+|/+\*|~|~/|~/\*|\$\{?HOME\}?/?|\$\{?HOME\}?/\*|/\.|/\.\*|/\.\.|
    /(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|run|sbin|srv|sys|usr|var|Users|System|Library)/?\*?)""",
    re.VERBOSE,
)
_DISK = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|dm-)\w*")


class Danger(Struct, frozen=True):
    """A reason to ask about a command or, with `refused`, to refuse it. If `by_user_rule` is true, it comes from a
    rule of the person, which no allow rule overrides."""

    reason: str
    refused: bool = False
    by_user_rule: bool = False


def destruction(name: str, rest: Sequence[str]) -> Iterator[Danger]:
    """Destructive commands that nobody runs on purpose; they are refused outside of yolo."""
    if name not in ("rm", "chmod", "chown", "chgrp", "shred", "find", "dd", "wipefs") and not name.startswith("mkfs"):
        return
    letters = "".join(each[1:] for each in rest if re.fullmatch(r"-[A-Za-z]+", each))
    deep = "r" in letters or "R" in letters or "--recursive" in rest
    if name == "rm" and "--no-preserve-root" in rest:
        yield Danger("it deletes everything on the machine", refused=True)
    if name in ("rm", "chmod", "chown", "chgrp", "shred") and deep and any(map(_ROOT_OR_HOME.fullmatch, rest)):
        yield Danger("it destroys the machine or the home folder", refused=True)
    if name == "find" and "-delete" in rest and rest and _ROOT_OR_HOME.fullmatch(rest[0]) and len(rest) == 2:
        yield Danger("it destroys the machine or the home folder", refused=True)
    if name == "dd" and any(each.startswith("of=") and _DISK.match(each[3:]) for each in rest):
        yield Danger("it overwrites a disk", refused=True)
    if (name.startswith("mkfs") or name in ("wipefs", "shred")) and any(map(_DISK.match, rest)):
        yield Danger("it overwrites a disk", refused=True)


def overwriting(target: str) -> Iterator[Danger]:
    if _DISK.match(target):
        yield Danger("it overwrites a disk", refused=True)
    elif target.startswith(("/", "~", "$")) and target not in ("/dev/null", "/dev/stderr", "/dev/stdout"):
        yield Danger(say("it writes to {path}", path=target))
