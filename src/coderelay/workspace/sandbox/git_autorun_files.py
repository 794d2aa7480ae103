"""Lists the files in the workspace that could make git run a program or use another repository.

These are configuration that may name programs, hooks, and files that send git to another folder.
"""

import hashlib
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from coderelay.workspace.files.openat import folder_of
from coderelay.workspace.files.path_resolution import is_in
from coderelay.workspace.sandbox.git_config_parser import settings_in, work_trees
from coderelay.workspace.sandbox.git_folder_search import GitPlaces
from coderelay.workspace.sandbox.harmful_git_settings import harmful_settings
from coderelay.workspace.sandbox.paths_named_by_git_config import relative_names

MOST_BYTES = 1 << 20
ASIDE = ".moved-"
_CONFIGS = ("config", "config.worktree")
_OF_LAZYGIT = "lazygit.yml"  # lazygit's configuration may name programs, such as a pager
_DEEPEST_HOOK = 2  # levels below a hook folder; husky has hooks in `.husky` and in `.husky/_`
_NAMES_FOLDER = b"gitdir: "
_EXEC_LINE = re.compile(rb"^[ \t]*(?:x|exec)[ \t].*", re.MULTILINE)


class GitAutorunFile(Struct, frozen=True):
    """One file or link that git would obey. `instructions` lists those in it; equal instructions have equal texts.
    It is empty for a harmless configuration, which is listed so that it can be restored later. `content` is the whole
    content if it is a small file. `git` is the git folder that the file belongs to; it is empty for a file that leads
    to a git folder, and for a file in a work tree that configuration names (`named`)."""

    path: str
    instructions: tuple[str, ...]
    content: bytes | None
    git: str
    named: bool = False


def find_git_autorun_files(
    places: GitPlaces, searched_folders: Sequence[str], home: str
) -> dict[str, GitAutorunFile]:
    """Return all autorun files by path. `searched_folders` are the folders that were searched, without those that
    links led to. `home` is the person's home folder."""
    listed = [each for entry in places.entries for each in _in_entry(entry, searched_folders)]
    targets = [each for entry in places.entries for each in _target(entry) if os.path.lexists(f"{each}/HEAD")]
    folders = {
        *places.folders,
        *(target for target in targets if any(is_in(target, top) for top in searched_folders)),
    }
    for folder in sorted(folders):
        listed += _in_folder(folder, folders, searched_folders)
    names: dict[str | None, dict[tuple[str, bool], None]] = {}
    configured = [(None, tree) for each in listed if each.git for tree in work_trees(each.content or b"", each.git)]
    for own, tree in dict.fromkeys([*_trees(places), *configured]):
        if tree not in searched_folders and any(is_in(tree, top) for top in searched_folders):
            if own not in names:
                names[own] = dict.fromkeys(relative_names(own, home))
            listed += _named(names[own], own, tree, searched_folders)
    return {each.path: each for each in listed}


def read_file(path: str) -> bytes | None:
    """Return the content, or None if it is not a regular file, is too large, or a link is in its path."""
    try:
        with folder_of(path) as (folder, name):
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                return None  # `open` would refuse a folder and leak the descriptor
            with open(opened, "rb", closefd=False) as file:
                content = file.read(MOST_BYTES + 1)
        finally:
            os.close(opened)
    except (OSError, ValueError):
        return None
    return content if len(content) <= MOST_BYTES else None


def _in_folder(git: str, folders: Collection[str], searched_folders: Sequence[str]) -> Iterator[GitAutorunFile]:
    """Yield the autorun files of the git folder `git`. `folders` are all git folders that are checked, including this
    one."""
    for name in _CONFIGS:
        if os.path.lexists(path := os.path.join(git, name)):
            content = read_file(path)
            instructions = (
                (_description_of_other(path),)
                if content is None
                else harmful_settings(content, git, searched_folders)
            )
            yield GitAutorunFile(path, instructions, content, git)
    if os.path.lexists(path := os.path.join(git, "commondir")) and not _leads_to_own_repository(path, git, folders):
        yield _whole(path, git)
    for path in _hooks(os.path.join(git, "hooks")):
        yield _whole(path, git)
    if os.path.lexists(path := os.path.join(git, _OF_LAZYGIT)):
        yield _whole(path, git)
    for name, programs_in in _UNFINISHED.items():
        folder, path = os.path.join(git, os.path.dirname(name)), os.path.join(git, name)
        if os.path.islink(folder):
            yield _whole(folder, git)
        elif os.path.lexists(path):
            content = read_file(path)
            yield GitAutorunFile(
                path, (_description_of_other(path),) if content is None else tuple(programs_in(content)), None, git
            )


def _programs_of_todo(content: bytes) -> Iterator[str]:
    yield from (line.decode("latin-1") for line in _EXEC_LINE.findall(content))


def _program_of_strategy(content: bytes) -> Iterator[str]:
    """Git merges with the program `git-merge-STRATEGY`. If the strategy contains a slash, that is a path in the work
    tree."""
    if b"/" in content:
        yield content.decode("latin-1")


def _program_of_options(content: bytes) -> Iterator[str]:
    try:
        settings = list(settings_in(content.decode("utf-8", "surrogateescape")))
    except ValueError:  # git refuses it as well
        return
    yield from (str(each) for each in settings if each.key == "strategy" and "/" in (each.value or ""))


_UNFINISHED: dict[str, Callable[[bytes], Iterator[str]]] = {
    # Files that name programs which `git rebase --continue` and `git cherry-pick --continue` start. They are not
    # restored, since the operation may have advanced.
    "rebase-merge/git-rebase-todo": _programs_of_todo,
    "rebase-merge/strategy": _program_of_strategy,
    "sequencer/opts": _program_of_options,
}


def _trees(places: GitPlaces) -> Iterator[tuple[str | None, str]]:
    """Yield the work trees. A linked work tree comes with the git folder of its repository, any other with None."""
    for folder in places.folders:
        yield None, os.path.dirname(folder) if os.path.basename(folder).lower() == ".git" else folder
    for entry in places.entries:
        for target in _target(entry):
            trees = os.path.dirname(target)
            yield os.path.dirname(trees) if os.path.basename(trees) == "worktrees" else None, os.path.dirname(entry)


def _named(
    names: Iterable[tuple[str, bool]], own: str | None, tree: str, searched_folders: Sequence[str]
) -> Iterator[GitAutorunFile]:
    """Yield the files in the work tree `tree` that configuration names by a relative path, which means another file
    in each work tree. The person's configuration applies to all repositories, that of the repository `own` to its
    linked work trees. A file equal to the one in the main work tree is harmless. Files named in the session's folders
    themselves are guarded by other means (`guarded`)."""
    for name, is_hooks in names:
        if not os.path.lexists(named := os.path.join(tree, name)) or (os.path.isdir(named) and not is_hooks):
            continue
        try:
            real = os.path.realpath(named)
        except OSError:  # a running command is replacing a part of the path
            real = named
        for path in (
            _files_below(real, _DEEPEST_HOOK) if any(is_in(real, top) for top in searched_folders) else (named,)
        ):
            found = _whole(path, "")
            first = None if own is None else os.path.join(os.path.dirname(own), os.path.relpath(path, tree))
            is_same = first is not None and found.content is not None and found.content == read_file(first)
            yield GitAutorunFile(path, () if is_same else found.instructions, found.content, "", named=True)


def _files_below(path: str, deepest: int) -> Iterator[str]:
    if os.path.islink(path) or not os.path.isdir(path) or not deepest:
        if os.path.lexists(path):
            yield path
        return
    with suppress(OSError), folder_of(os.path.join(path, "x"), os.O_RDONLY) as (opened, _):
        names = [name for name in os.listdir(opened) if ASIDE not in name]
        for name in names:
            yield from _files_below(os.path.join(path, name), deepest - 1)


def _in_entry(entry: str, searched_folders: Sequence[str]) -> Iterator[GitAutorunFile]:
    """Yield a `.git` that is a link, or a file that leads outside of the searched folders. A `.git` file that leads
    to a folder that is checked too is harmless."""
    targets = _target(entry)
    if os.path.islink(entry) or (targets and not any(is_in(targets[0], top) for top in searched_folders)):
        yield _whole(entry, "")


def _target(entry: str) -> list[str]:
    """Return the folder that a `.git` file names, or nothing if the file does not have the form that git accepts. The
    folder is an empty text if a command is replacing parts of the path. Git reads the name only up to a NUL."""
    content = read_file(entry) or b""
    if not content.startswith(_NAMES_FOLDER):
        return []
    named = os.fsdecode(content.removeprefix(_NAMES_FOLDER).rstrip(b"\r\n").partition(b"\0")[0])
    try:
        return [os.path.realpath(os.path.join(os.path.dirname(entry), named))]
    except OSError:
        return [""]


def _leads_to_own_repository(path: str, git: str, folders: Collection[str]) -> bool:
    """Return whether the `commondir` file of a linked work tree names the repository folder that it lies in. Git
    would also share a folder that is no repository by itself, whose configuration nobody checks."""
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


def _whole(path: str, git: str) -> GitAutorunFile:
    content = read_file(path)
    instructions = _description_of_other(path) if content is None else hashlib.sha256(content).hexdigest()
    return GitAutorunFile(path, (instructions,), content, git)


def _description_of_other(path: str) -> str:
    """Describe something that is not a small file: the target of a link, or else its type, inode and change time."""
    with suppress(OSError):
        return f"link to {os.readlink(path)}"
    with suppress(OSError):
        seen = os.lstat(path)
        return f"{stat.S_IFMT(seen.st_mode):o} {seen.st_ino} {seen.st_ctime_ns}"
    return "gone"
