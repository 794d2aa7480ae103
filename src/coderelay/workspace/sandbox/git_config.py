"""Parses git configuration files as git does, and tells which settings could start a program."""

import hashlib
import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress

from msgspec import Struct

from coderelay.workspace.files.path_resolution import is_in

_SECTION = re.compile(r'\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|(?=\n)|\Z)")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", "\\": "\\", '"': '"'}
_HARMLESS = {
    # Settings that name no program: those that git's own commands write, that other programs add without being told
    # to (editors and `gh` to branches and remotes), and that tests give to the repositories they make.
    "core": {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode"}
    | {"symlinks", "worktree", "autocrlf", "eol", "safecrlf", "quotepath", "abbrev", "compression", "longpaths"}
    | {"sparsecheckout", "sparsecheckoutcone", "sharedrepository", "hidedotfiles", "untrackedcache", "whitespace"},
    "extensions": {"objectformat", "compatobjectformat", "refstorage", "worktreeconfig", "partialclone"}
    | {"relativeworktrees", "preciousobjects", "noop"},
    "init": {"defaultbranch"},
    "user": {"name", "email", "useconfigonly", "signingkey"},
    "author": {"name", "email"},
    "committer": {"name", "email"},
    "remote": {"url", "pushurl", "fetch", "push", "tagopt", "prune", "promisor", "partialclonefilter", "mirror"}
    | {"gh-resolved", "pushdefault"},
    "branch": {"remote", "merge", "rebase", "description", "pushremote", "vscode-merge-base", "gh-merge-base"}
    | {"github-pr-owner-number", "autosetupmerge", "autosetuprebase"},
    "submodule": {"url", "active", "branch", "path", "shallow", "ignore", "recurse"},
    "pull": {"rebase", "ff"},
    "push": {"default", "autosetupremote", "followtags"},
    "fetch": {"prune", "prunetags", "writecommitgraph"},
    "commit": {"gpgsign"},
    "tag": {"gpgsign"},
    "merge": {"conflictstyle", "ff"},
    "receive": {"denycurrentbranch", "denynonfastforwards", "denydeletes", "shallowupdate"},
    "uploadpack": {"allowfilter", "allowanysha1inwant", "allowreachablesha1inwant", "allowtipsha1inwant"},
    "index": {"version", "sparse"},
    "status": {"showuntrackedfiles"},
    "gc": {"auto", "autodetach"},
    "maintenance": {"auto", "strategy"},
    "advice": {"detachedhead"},
    "lfs": {"repositoryformatversion", "access"},
}


class Setting(Struct, frozen=True):
    """One setting. `section` and `key` are in lower case. `value` is None if the key has no value, which means
    true."""

    section: str
    subsection: str
    key: str
    value: str | None

    def __str__(self) -> str:
        name = ".".join(filter(None, (self.section, self.subsection, self.key)))
        return name if self.value is None else f"{name}={self.value}"


def settings_in(text: str) -> Iterator[Setting]:
    """Yield the settings in order. Raises ValueError where git would refuse the file."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if "\0" in text:
        raise ValueError("a NUL character")
    section = subsection = ""
    at = 0
    while at < len(text):
        if text[at] in " \t\n\r":
            at += 1
        elif text[at] in "#;":
            at = _line_end(text, at)
        elif header := _SECTION.match(text, at):
            section, dot, rest = header[1].partition(".")
            subsection = rest.lower() if dot else re.sub(r"\\(.)", r"\1", header[2] or "")
            at = header.end()
        elif (named := _KEY.match(text, at)) and section:
            value, at = _value(text, named.end()) if named[2] else (None, named.end())
            yield Setting(section.lower(), subsection, named[1].lower(), value)
        else:
            raise ValueError(f"not a setting at character {at}")


def harmful_settings(content: bytes, git: str, folders: Collection[str]) -> tuple[str, ...]:
    """Return every setting in the configuration of the git folder `git` that is not known to be harmless. A file that
    cannot be parsed counts as one harmful setting. A work tree (`core.worktree`) is harmless if it lies in one of
    `folders`."""
    try:
        settings = list(settings_in(content.decode("utf-8", "surrogateescape")))
    except ValueError:
        return (f"unreadable {hashlib.sha256(content).hexdigest()}",)
    harmful = [each for each in settings if not is_harmless(each) or _leads_elsewhere(each, git, folders)]
    return tuple(dict.fromkeys(map(str, harmful)))


def work_trees(content: bytes, git: str) -> Iterator[str]:
    """Yield the work trees that the configuration of the git folder `git` names (`core.worktree`)."""
    if b"worktree" not in content.lower():
        return
    with suppress(OSError, ValueError):  # git cannot use it either, or a running command is replacing it
        for each in settings_in(content.decode("utf-8", "surrogateescape")):
            if (each.section, each.key) == ("core", "worktree"):
                yield os.path.realpath(os.path.join(git, each.value or ""))


def is_harmless(setting: Setting) -> bool:
    return setting.key in _HARMLESS.get(setting.section, ())


def _leads_elsewhere(setting: Setting, git: str, folders: Collection[str]) -> bool:
    if (setting.section, setting.key) != ("core", "worktree"):
        return False
    try:
        tree = os.path.realpath(os.path.join(git, setting.value or ""))
    except (OSError, ValueError):  # a running command is replacing a part of the path, or it is no path
        return True
    return not any(is_in(tree, folder) for folder in folders)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _value(text: str, at: int) -> tuple[str, int]:
    value, spaces, quoted = "", "", False
    while at < len(text) and (text[at] != "\n" or quoted):
        character = text[at]
        if character == "\n":
            break
        at += 1
        if not quoted and character in " \t\r":
            spaces += character if value else ""
            continue
        if not quoted and character in "#;":
            return value, _line_end(text, at)
        value, spaces = value + spaces, ""
        if character == '"':
            quoted = not quoted
        elif character == "\\":
            escaped = text[at : at + 1]
            at += 1
            if escaped != "\n":
                if escaped not in _ESCAPES:
                    raise ValueError("an unknown escape")
                value += _ESCAPES[escaped]
        else:
            value += character
    if quoted:
        raise ValueError("a quote without an end")
    return value, at
