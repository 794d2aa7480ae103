"""What git would obey of what lies in the workspace: configuration that may name programs, hooks, and files that send
git to another folder."""

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from coderelay.workspace.folders import is_in
from coderelay.workspace.sandbox.git_config import harmful_settings
from coderelay.workspace.sandbox.git_folders import GitPlaces
from coderelay.workspace.sandbox.unlinked import folder_of

MOST_BYTES = 1 << 20
ASIDE = ".moved-"
_CONFIGS = ("config", "config.worktree")
_NAMES_FOLDER = b"gitdir: "
_EXEC_LINE = re.compile(rb"^[ \t]*(?:x|exec)[ \t].*", re.MULTILINE)


class Obeyed(Struct, frozen=True):
    """One file or link. `says` are the things in it that git would obey; the same thing is the same text. There is
    nothing in a harmless configuration, which is listed to be put back later. `content` is all of it, if it is a
    small file. `git` is the git folder that it belongs to; empty for what leads to one."""

    path: str
    says: tuple[str, ...]
    content: bytes | None
    git: str


def obeyed(places: GitPlaces, tops: Sequence[str]) -> dict[str, Obeyed]:
    """`tops` are the folders that were searched, without what links led to."""
    listed = [each for entry in places.entries for each in _in_entry(entry, tops)]
    targets = [each for entry in places.entries for each in _target(entry) if os.path.lexists(f"{each}/HEAD")]
    folders = {*places.folders, *(target for target in targets if any(is_in(target, top) for top in tops))}
    for folder in sorted(folders):
        listed += _in_folder(folder, folders, tops)
    return {each.path: each for each in listed}


def read_file(path: str) -> bytes | None:
    """None if it is no regular file, is too large, or a link is in the way."""
    try:
        with folder_of(path) as (folder, name):
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with open(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                return None
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError):
        return None
    return content if len(content) <= MOST_BYTES else None


def _in_folder(git: str, folders: Collection[str], tops: Sequence[str]) -> Iterator[Obeyed]:
    """`folders` are all that are looked at, this one among them."""
    for name in _CONFIGS:
        if os.path.lexists(path := os.path.join(git, name)):
            content = read_file(path)
            says = (_sight(path),) if content is None else harmful_settings(content, git, tops)
            yield Obeyed(path, says, content, git)
    if os.path.lexists(path := os.path.join(git, "commondir")) and not _leads_to_own_repository(path, git, folders):
        yield _whole(path, git)
    for path in _hooks(os.path.join(git, "hooks")):
        yield _whole(path, git)
    yield from _in_rebase(os.path.join(git, "rebase-merge"), git)


def _in_rebase(folder: str, git: str) -> Iterator[Obeyed]:
    """The programs that `git rebase --continue` would start. The list is not put back: the rebase may be further."""
    if os.path.islink(folder):
        yield _whole(folder, git)
    elif os.path.lexists(path := os.path.join(folder, "git-rebase-todo")):
        content = read_file(path)
        found = (_sight(path).encode(),) if content is None else _EXEC_LINE.findall(content)
        yield Obeyed(path, tuple(line.decode("latin-1") for line in found), None, git)


def _in_entry(entry: str, tops: Sequence[str]) -> Iterator[Obeyed]:
    """A `.git` that is a file is harmless if it leads to a folder that is looked at too."""
    targets = _target(entry)
    if os.path.islink(entry) or (targets and not any(is_in(targets[0], top) for top in tops)):
        yield _whole(entry, "")


def _target(entry: str) -> list[str]:
    """The folder that a `.git` file names, if it has the form that git believes. An empty name if a command exchanges
    parts of the path. Git reads the name only up to a NUL."""
    content = read_file(entry) or b""
    if not content.startswith(_NAMES_FOLDER):
        return []
    named = os.fsdecode(content.removeprefix(_NAMES_FOLDER).rstrip(b"\r\n").partition(b"\0")[0])
    try:
        return [os.path.realpath(os.path.join(os.path.dirname(entry), named))]
    except OSError:
        return [""]


def _leads_to_own_repository(path: str, git: str, folders: Collection[str]) -> bool:
    """That of a further work tree names the folder of the repository that it lies in. Git would also share a folder
    that is no repository by itself, and nobody looks at the configuration in that."""
    trees = os.path.dirname(git)
    own = os.path.dirname(trees)
    if os.path.basename(trees) != "worktrees" or own not in folders:
        return False
    return (read_file(path) or b"").rstrip(b"\r\n") in (b"../..", os.fsencode(own))


def _hooks(folder: str) -> Iterator[str]:
    if os.path.islink(folder):
        yield folder
        return
    with suppress(OSError), folder_of(os.path.join(folder, "x"), os.O_RDONLY) as (opened, _):
        names = os.listdir(opened)
        yield from (
            os.path.join(folder, name) for name in names if not name.endswith(".sample") and ASIDE not in name
        )


def _whole(path: str, git: str) -> Obeyed:
    content = read_file(path)
    says = _sight(path) if content is None else hashlib.sha256(content).hexdigest()
    return Obeyed(path, (says,), content, git)


def _sight(path: str) -> str:
    """Of what is no small file: where a link leads, or which thing it is and when it changed."""
    with suppress(OSError):
        return f"link to {os.readlink(path)}"
    with suppress(OSError):
        seen = os.lstat(path)
        return f"{stat.S_IFMT(seen.st_mode):o} {seen.st_ino} {seen.st_ctime_ns}"
    return "gone"
