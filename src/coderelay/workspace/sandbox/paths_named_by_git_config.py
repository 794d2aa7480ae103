"""Finds the paths in the workspace that git's configuration names: included files, hook folders and programs.

The configuration itself is guarded, or out of reach of commands; without this, every command could change the files
that it leads to.
"""

import os
import shlex
from collections.abc import Collection, Iterator
from functools import lru_cache

from coderelay.workspace.files.path_resolution import is_in
from coderelay.workspace.sandbox.git_config_parser import Setting, settings_in
from coderelay.workspace.sandbox.harmful_git_settings import is_harmless
from coderelay.workspace.trees.project_repository import read_regular

_MOST_BYTES = 1 << 20
_DEEPEST = 5
_HUSKY = "_"  # the folder of husky's generated hooks, which run the hooks in its parent folder
_NAMES_DATA = {"template", "ignorerevsfile", "excludesfile", "attributesfile", "file", "allowedsignersfile"}


def named_by_git(git: str | None, tree: str, home: str, folders: Collection[str]) -> Iterator[str]:
    """Yield the paths named by the configuration of the git folder `git` (if there is one), whose work tree is
    `tree`, and by the person's own, whose home is `home`. Only paths below `folders` are returned, whether they exist
    or not."""
    own = [] if git is None else [os.path.join(git, name) for name in ("config", "config.worktree", "hooks")]
    files = [*own[:2], *_configs_of_person(home)]
    named = [each for file in files for each in _named_in(file, tree, home, _DEEPEST)]
    linked = [_real(os.sep, path, home) for path in own if os.path.islink(path)]  # a mount cannot protect a link
    for path in dict.fromkeys([*named, *linked]):
        if any(path != folder and is_in(path, folder) for folder in folders):
            yield path


def relative_names(git: str | None, home: str) -> Iterator[tuple[str, bool]]:
    """Yield the relative paths that the same configuration names, each with whether it is a hook folder. A relative
    path means another file in each work tree. Aliases are left out: they run only when the person types their
    name."""
    own = [] if git is None else [os.path.join(git, name) for name in ("config", "config.worktree")]
    for file in (*own, *_configs_of_person(home)):
        for name, is_hooks in _written_in(file, home, _DEEPEST):
            if name and not name.startswith(("/", "~", "-", "$", "%")):
                yield name, is_hooks


def _written_in(file: str, home: str, deepest: int) -> Iterator[tuple[str, bool]]:
    for setting in _settings(read_regular(file, _MOST_BYTES) or b""):
        if setting.value is None or setting.section == "alias":
            continue
        if setting.section in ("include", "includeif") and setting.key == "path":
            if deepest:
                yield from _written_in(_real(os.path.dirname(file), setting.value, home), home, deepest - 1)
        elif (setting.section, setting.key) == ("core", "hookspath"):
            hooks = os.path.normpath(setting.value)
            yield os.path.dirname(hooks) if os.path.basename(hooks) == _HUSKY else hooks, True
        elif setting.key not in _NAMES_DATA and not is_harmless(setting):
            yield from ((word, False) for word in _words(setting.value))


def _configs_of_person(home: str) -> Iterator[str]:
    yield "/etc/gitconfig"
    yield os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git", "config")
    yield os.path.join(home, ".gitconfig")


def _named_in(file: str, tree: str, home: str, deepest: int) -> Iterator[str]:
    for setting in _settings(read_regular(file, _MOST_BYTES) or b""):
        if setting.value is None:
            continue
        if setting.section in ("include", "includeif") and setting.key == "path":
            included = _real(os.path.dirname(file), setting.value, home)
            if included and deepest:
                yield included
                yield from _named_in(included, tree, home, deepest - 1)
        elif (setting.section, setting.key) == ("core", "hookspath"):
            hooks = _real(tree, setting.value, home)
            yield os.path.dirname(hooks) if os.path.basename(hooks) == _HUSKY else hooks
        elif setting.key not in _NAMES_DATA and not is_harmless(setting):
            yield from _files_in(setting.value, tree, home)


def _files_in(command: str, tree: str, home: str) -> Iterator[str]:
    """Yield the files that the words of a command may mean. A file that does not exist counts only if the word is
    written as a path, with a slash."""
    for word in _words(command):
        path = _real(tree, word, home)
        if os.path.isfile(path) if "/" not in word else not os.path.isdir(path):
            yield path


@lru_cache(maxsize=64)
def _settings(content: bytes) -> tuple[Setting, ...]:
    try:
        return tuple(settings_in(content.decode("utf-8", "surrogateescape")))
    except ValueError:  # git refuses it as well
        return ()


def _words(value: str) -> list[str]:
    command = value.removeprefix("!")
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _real(folder: str, path: str, home: str) -> str:
    """Return the real path, or an empty text if it cannot be determined."""
    if path.startswith("~/"):
        path = os.path.join(home, path[2:])
    try:
        return os.path.realpath(os.path.join(folder, path))
    except (OSError, ValueError):
        return ""
