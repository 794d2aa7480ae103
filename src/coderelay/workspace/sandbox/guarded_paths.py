"""Finds the guarded paths: what commands may not change although it lies in a writable folder.

Other programs would obey these files later, outside of the sandbox.
"""

import os
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from coderelay.protocol.autorun_files import AUTORUN_FILES, autorun_entry
from coderelay.workspace.files.path_resolution import is_in
from coderelay.workspace.sandbox.paths_named_by_git_config import named_by_git
from coderelay.workspace.trees.project_repository import read_regular

_ALWAYS = (".coder", *(name for files in AUTORUN_FILES if files.guard == "always" for name in files.names))
_BELOW = {
    name.partition("/")[0]
    for files in AUTORUN_FILES
    if files.guard == "present"
    for name in files.names
    if "/" in name
}
_ASIDE = re.compile(r"\.moved-[0-9a-f]{8}$")
_OF_WORK_TREES = ("commondir", "gitdir", "config.worktree")
_CLAUDE_FILES = ("settings.json", "settings.local.json")


class GuardedPaths(Struct, frozen=True):
    """`paths` are guarded whether they exist or not. `git` are git folders outside of the workspace that commits are
    written to. `named` are the paths that git's configuration names: those that exist are also among the `paths`, but
    commands may read them; where one does not exist, nothing may be created."""

    paths: tuple[str, ...]
    git: tuple[str, ...]
    named: tuple[str, ...] = ()


def find_guarded_paths(folders: tuple[str, ...], home: str) -> GuardedPaths:
    paths: dict[str, None] = {}
    named: dict[str, None] = {}
    outside: dict[str, None] = {}
    for folder in folders:
        paths |= dict.fromkeys(_settings(folder))
        if os.path.isfile(link := os.path.join(folder, ".git")):
            paths[link] = None  # whoever changes this file chooses whose hooks are run
        git, tree = _git_folder(folder)
        named |= dict.fromkeys(named_by_git(git, tree, home, folders))
        if git is None:
            continue
        if not any(is_in(git, each) for each in folders):
            outside[git] = None
        for each in (git, *modules_in(git)):
            paths |= dict.fromkeys(_in_git(each))
    paths |= dict.fromkeys(path for path in named if os.path.lexists(path))
    return GuardedPaths(tuple(paths), tuple(outside), tuple(named))


def _settings(folder: str) -> Iterator[str]:
    for name in _ALWAYS:
        yield os.path.join(folder, name)
    yield from autorun_files_in(folder)
    claude = os.path.join(folder, ".claude")
    if not (found := _names_in(claude)):
        yield claude
        return
    for name in {*_CLAUDE_FILES, *(each for each in found if re.fullmatch(r"settings.*\.json", each))}:
        yield os.path.join(claude, name)


def autorun_files_in(folder: str) -> Iterator[str]:
    """Yield what exists at the top of a folder that other programs obey and that commands have no need to write."""
    for name in sorted(_names_in(folder)):
        path = os.path.join(folder, name)
        inner: list[str] = []
        if name.lower() in _BELOW:
            if os.path.islink(path):  # other programs follow the link, even if its target appears only later
                yield path
            inner = sorted(_names_in(path))
        for each in (name, *(f"{name}/{each}" for each in inner)):
            found = None if _ASIDE.search(each) else autorun_entry(each)
            if found is not None and found.guard == "present":
                yield os.path.join(folder, each)


def open_folders(folders: Iterable[str]) -> Iterator[str]:
    """Yield the folders that other programs obey and that commands must be able to read. In a sandbox without mounts,
    commands can write them."""
    for folder in folders:
        yield from (path for path in autorun_files_in(folder) if os.path.isdir(path) and not os.path.islink(path))


def files_below(folder: str) -> Iterator[str]:
    """Yield all files below a folder, and all links, wherever they lead."""
    for above, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(above, name))]
        yield from (os.path.join(above, name) for name in (*names, *links) if not _ASIDE.search(name))


def _in_git(git: str) -> Iterator[str]:
    yield os.path.join(git, "hooks")
    yield os.path.join(git, "config")
    if os.path.lexists(path := os.path.join(git, "config.worktree")):
        yield path
    for tree in _names_in(trees := os.path.join(git, "worktrees")):
        for name in _names_in(os.path.join(trees, tree)):
            if name in _OF_WORK_TREES:
                yield os.path.join(trees, tree, name)


def modules_in(git: str) -> Iterator[str]:
    """Yield the git folders of submodules, and of their submodules. A submodule's name may contain slashes."""
    places = [os.path.join(git, "modules")]
    while places:
        for name in _names_in(above := places.pop()):
            folder = os.path.join(above, name)
            is_one = os.path.isfile(os.path.join(folder, "HEAD")) and not os.path.islink(folder)
            if is_one:
                yield folder
            places.append(os.path.join(folder, "modules") if is_one else folder)


def _git_folder(folder: str) -> tuple[str | None, str]:
    """Return the git folder that a commit made in this folder is written to, and the top of the work tree. For a
    linked work tree, that is the git folder that it shares."""
    above = folder
    while True:
        entry = os.path.join(above, ".git")
        if os.path.isdir(entry):
            real = os.path.realpath(entry)  # a link may come from somebody's archive and lead anywhere
            is_believed = is_in(real, folder) or (real == entry and _is_ours(entry))
            return (real if is_believed else None), above
        if os.path.isfile(entry):
            return _linked(entry), above
        if above == os.path.dirname(above):
            return None, folder
        above = os.path.dirname(above)


def _linked(entry: str) -> str | None:
    """Return the folder that a `.git` file leads to, if that folder points back to it: the file may be somebody
    else's work."""
    named = re.fullmatch(r"gitdir: (.+)\n?", _text(entry))
    if named is None:
        return None
    git = os.path.realpath(os.path.join(os.path.dirname(entry), named[1]))
    back = _text(os.path.join(git, "gitdir")).strip()
    if back and os.path.realpath(os.path.join(git, back)) == os.path.realpath(entry) and _is_ours(git):
        return os.path.realpath(os.path.join(git, _text(os.path.join(git, "commondir")).strip() or "."))
    tree = re.search(r"^\s*worktree\s*=\s*(.+?)\s*$", _text(os.path.join(git, "config")), re.MULTILINE)
    if tree and os.path.realpath(os.path.join(git, tree[1])) == os.path.dirname(entry) and _is_ours(git):
        return git
    return None


def _is_ours(path: str) -> bool:
    return os.stat(path).st_uid == os.getuid()


def _names_in(folder: str) -> list[str]:
    """List a folder, but never through a link: a command may have made the link, and it may lead to what the command
    must not write."""
    if os.path.realpath(folder) != folder:
        return []
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _text(path: str) -> str:
    return (read_regular(path, 1 << 16) or b"").decode("utf-8", "replace")
