"""What a command may not change beneath folders that it may: what others would obey later, outside of the sandbox."""

import os
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from coderelay.protocol.obeyed_files import OBEYED_FILES, obeyed_by
from coderelay.workspace.files.folders import is_in
from coderelay.workspace.sandbox.git_config_paths import named_by_git
from coderelay.workspace.trees.repository import read_regular

_ALWAYS = (".coder", *(name for files in OBEYED_FILES if files.guard == "always" for name in files.names))
_BELOW = {
    name.partition("/")[0]
    for files in OBEYED_FILES
    if files.guard == "present"
    for name in files.names
    if "/" in name
}
_ASIDE = re.compile(r"\.moved-[0-9a-f]{8}$")
_OF_WORK_TREES = ("commondir", "gitdir", "config.worktree")
_CLAUDE_FILES = ("settings.json", "settings.local.json")


class Guarded(Struct, frozen=True):
    """`paths` are guarded whether they exist or not. `git` are folders of git that commits are written to, although
    they lie outside of the workspace. `named` is what git's configuration leads to: what exists of it is also among
    the `paths`, but commands may read it; nothing may be made where it does not exist."""

    paths: tuple[str, ...]
    git: tuple[str, ...]
    named: tuple[str, ...] = ()


def guarded(folders: tuple[str, ...], home: str) -> Guarded:
    paths: dict[str, None] = {}
    named: dict[str, None] = {}
    outside: dict[str, None] = {}
    for folder in folders:
        paths |= dict.fromkeys(_settings(folder))
        if os.path.isfile(link := os.path.join(folder, ".git")):
            paths[link] = None  # who changes it chooses whose hooks are run
        git, tree = _git_folder(folder)
        named |= dict.fromkeys(named_by_git(git, tree, home, folders))
        if git is None:
            continue
        if not any(is_in(git, each) for each in folders):
            outside[git] = None
        for each in (git, *modules_in(git)):
            paths |= dict.fromkeys(_in_git(each))
    paths |= dict.fromkeys(path for path in named if os.path.lexists(path))
    return Guarded(tuple(paths), tuple(outside), tuple(named))


def _settings(folder: str) -> Iterator[str]:
    for name in _ALWAYS:
        yield os.path.join(folder, name)
    yield from obeyed_files_in(folder)
    claude = os.path.join(folder, ".claude")
    if not (found := _names_in(claude)):
        yield claude
        return
    for name in {*_CLAUDE_FILES, *(each for each in found if re.fullmatch(r"settings.*\.json", each))}:
        yield os.path.join(claude, name)


def obeyed_files_in(folder: str) -> Iterator[str]:
    """What there is at the top of a folder that other programs obey, and commands have no need to write."""
    for name in sorted(_names_in(folder)):
        path = os.path.join(folder, name)
        inner: list[str] = []
        if name.lower() in _BELOW:
            if os.path.islink(path):  # others follow it, now or when there is something behind it
                yield path
            inner = sorted(_names_in(path))
        for each in (name, *(f"{name}/{each}" for each in inner)):
            found = None if _ASIDE.search(each) else obeyed_by(each)
            if found is not None and found.guard == "present":
                yield os.path.join(folder, each)


def open_folders(folders: Iterable[str]) -> Iterator[str]:
    """Those that other programs obey, and that commands must be able to read: without mounts they can write them."""
    for folder in folders:
        yield from (path for path in obeyed_files_in(folder) if os.path.isdir(path) and not os.path.islink(path))


def files_below(folder: str) -> Iterator[str]:
    """Links too, wherever they lead."""
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
    """The git folders of submodules, and of theirs. A name may have slashes."""
    places = [os.path.join(git, "modules")]
    while places:
        for name in _names_in(above := places.pop()):
            folder = os.path.join(above, name)
            is_one = os.path.isfile(os.path.join(folder, "HEAD")) and not os.path.islink(folder)
            if is_one:
                yield folder
            places.append(os.path.join(folder, "modules") if is_one else folder)


def _git_folder(folder: str) -> tuple[str | None, str]:
    """Where a commit made in this folder is written to, and the top of the work tree: of a further work tree, the git
    folder that it shares."""
    above = folder
    while True:
        entry = os.path.join(above, ".git")
        if os.path.isdir(entry):
            real = os.path.realpath(entry)  # a link may have come with somebody's archive, and lead anywhere
            is_believed = is_in(real, folder) or (real == entry and _is_ours(entry))
            return (real if is_believed else None), above
        if os.path.isfile(entry):
            return _linked(entry), above
        if above == os.path.dirname(above):
            return None, folder
        above = os.path.dirname(above)


def _linked(entry: str) -> str | None:
    """The folder a `.git` file leads to, if that one says so too: the file may be somebody else's."""
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
    """None through a link: it may be the work of a command, and lead to what it must not write."""
    if os.path.realpath(folder) != folder:
        return []
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _text(path: str) -> str:
    return (read_regular(path, 1 << 16) or b"").decode("utf-8", "replace")
