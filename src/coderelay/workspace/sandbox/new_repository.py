"""What git would obey in a repository that a command has made, where there was none to guard."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from coderelay.workspace.sandbox.guarded import modules_in

_REDIRECTING = ("commondir", "config.worktree")
_SECTION = re.compile(r'\[(\w+)(?: "[^"\\]*")?\]')
_HARMLESS = {  # what `init`, `clone` and `commit` need
    "core": {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode"}
    | {"symlinks", "worktree"},
    "extensions": {"objectformat"},
    "init": {"defaultbranch"},
    "user": {"name", "email"},
    "remote": {"url", "fetch"},
    "branch": {"remote", "merge"},
    "submodule": {"url", "active"},
}
_MOST_CHARACTERS = 1 << 16


def obeyed_in(git: str) -> Iterator[str]:
    """`git` is where a repository is now, if any. A file or a link there leads to one that we have not seen."""
    if not os.path.isdir(git) or os.path.islink(git):
        yield git
        return
    for folder in (git, *modules_in(git)):
        yield from _obeyed(folder)


def _obeyed(git: str) -> Iterator[str]:
    yield from (os.path.join(git, name) for name in _REDIRECTING)
    config, hooks = os.path.join(git, "config"), os.path.join(git, "hooks")
    if os.path.lexists(config) and not _is_harmless(config):
        yield config
    if os.path.islink(hooks):
        yield hooks
        return
    with suppress(OSError):
        yield from (os.path.join(hooks, name) for name in os.listdir(hooks) if not _is_aside(name))


def _is_aside(name: str) -> bool:
    """Git runs none that has such a name."""
    return name.endswith(".sample") or ".moved-" in name


def _is_harmless(config: str) -> bool:
    """Each line is one that is known; what is written in another way is not."""
    try:
        with open(os.open(config, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8") as file:
            text = file.read(_MOST_CHARACTERS)
    except (OSError, ValueError):
        return False
    known: set[str] = set()
    for line in map(str.strip, text.splitlines()):
        if section := _SECTION.fullmatch(line):
            known = _HARMLESS.get(section[1].lower(), set())
        elif line and (line.partition("=")[0].strip().lower() not in known or line.endswith("\\")):
            return False
    return len(text) < _MOST_CHARACTERS
