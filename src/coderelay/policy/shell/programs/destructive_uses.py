"""The uses of programs that destroy a machine, a home folder or a disk, which nobody means."""

import re
from collections.abc import Sequence

ROOT_OR_HOME = re.compile(
    r"""(?:/+|/+\*|~|~/|~/\*|\$\{?HOME\}?/?|\$\{?HOME\}?/\*|/\.|/\.\*|/\.\.|
    /(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|run|sbin|srv|sys|usr|var|Users|System|Library)/?\*?)""",
    re.VERBOSE,
)
DISK = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|dm-)\w*")
_DESTROYS = "it destroys the machine or the home folder"
_OVERWRITES = "it overwrites a disk"


def reaches_all_files(words: Sequence[str]) -> str | None:
    """Of a program that changes or removes whole folders if an option says so."""
    letters = "".join(each[1:] for each in words if re.fullmatch(r"-[A-Za-z]+", each))
    deep = "r" in letters or "R" in letters or "--recursive" in words
    return _DESTROYS if deep and any(map(ROOT_OR_HOME.fullmatch, words)) else None


def removes_all_files(words: Sequence[str]) -> str | None:
    if "--no-preserve-root" in words:
        return "it deletes everything on the machine"
    return reaches_all_files(words)


def finds_and_removes_all_files(words: Sequence[str]) -> str | None:
    return _DESTROYS if "-delete" in words and len(words) == 2 and ROOT_OR_HOME.fullmatch(words[0]) else None


def names_disk(words: Sequence[str]) -> str | None:
    return _OVERWRITES if any(map(DISK.match, words)) else None


def shreds(words: Sequence[str]) -> str | None:
    return reaches_all_files(words) or names_disk(words)


def copies_to_disk(words: Sequence[str]) -> str | None:
    return _OVERWRITES if any(each.startswith("of=") and DISK.match(each[3:]) for each in words) else None
