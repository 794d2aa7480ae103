"""The rules of .gitignore files: which files of a folder they leave out."""

import os
import re
import stat
from collections.abc import Sequence
from typing import NamedTuple

from coderelay.tools.search.glob_pattern import PathPattern, name_regex
from coderelay.workspace.files.openat import open_folder
from coderelay.workspace.trees.repository_root_and_branch import root_of

OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_RULES_BYTES = 1 << 20
_ESCAPED = re.compile(r"\\(.)")


class IgnoreRules:
    def __init__(self, text: str) -> None:
        rules = [_rule(line) for line in text.removeprefix("\ufeff").split("\n")]
        self._rules = [rule for rule in rules if rule is not None][::-1]  # the last rule that matches counts
        names = [each.name.pattern for each in self._rules if each.name is not None]
        self._any_name = re.compile("|".join(names)) if names else None
        self._paths = [each for each in self._rules if each.path is not None]

    def verdict(self, path: str, name: str, is_folder: bool) -> bool | None:
        """Whether these rules ignore a path beneath their folder; None if no rule matches."""
        by_name = self._any_name is not None and self._any_name.fullmatch(name) is not None
        rules = self._rules if by_name else self._paths
        for rule in rules:
            if rule.only_folders and not is_folder:
                continue
            if rule.name.fullmatch(name) if rule.name else rule.path is not None and rule.path.matches(path):
                return rule.ignores
        return None


class RulesFrom(NamedTuple):
    """The rules of the folder `base`, which is relative to the root and ends in a slash. If the root is beneath the
    folder of the rules, `above` is the path from that folder to the root."""

    base: str
    above: str
    rules: IgnoreRules


def is_ignored(rules: Sequence[RulesFrom], path: str, name: str, is_folder: bool) -> bool:
    """`rules` are sorted, those of the nearest folder first; the first that match decide."""
    for base, above, each in rules:
        verdict = each.verdict(above + path[len(base) :], name, is_folder)
        if verdict is not None:
            return verdict
    return False


def rules_in(root: str, start: str) -> list[RulesFrom]:
    """All rules that apply to the entries of a folder."""
    folder = open_folder(root, start, os.O_RDONLY)
    try:
        return [*rules_of_folder(folder, f"{start}/" if start else ""), *rules_above(root, start)]
    finally:
        os.close(folder)


def rules_above(root: str, start: str) -> list[RulesFrom]:
    """The rules of all parent folders up to the top of the repository, and those in `.git/info/exclude`."""
    top = root_of(root) or root
    rules: list[RulesFrom] = []
    folder = os.path.join(root, start) if start else root
    while folder != top:
        folder = os.path.dirname(folder)
        rules += _rules_of(os.path.join(folder, ".gitignore"), folder, root)
    return [*rules, *_rules_of(os.path.join(top, ".git", "info", "exclude"), top, root)]


def rules_of_folder(folder: int, prefix: str) -> list[RulesFrom]:
    text = _text(".gitignore", folder)
    return [] if text is None else [RulesFrom(prefix, "", IgnoreRules(text))]


def _rules_of(file: str, folder: str, root: str) -> list[RulesFrom]:
    text = _text(file)
    if text is None:
        return []
    if folder == root:
        return [RulesFrom("", "", IgnoreRules(text))]
    if folder.startswith(os.path.join(root, "")):
        return [RulesFrom(f"{os.path.relpath(folder, root)}/", "", IgnoreRules(text))]
    return [RulesFrom("", f"{os.path.relpath(root, folder)}/", IgnoreRules(text))]


def _text(path: str, folder: int | None = None) -> str | None:
    """Read a rules file. As in git, one that is a symbolic link is not read."""
    try:
        file = os.open(path, OPEN, dir_fd=folder)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        return os.read(file, _RULES_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    finally:
        os.close(file)


class _Rule(NamedTuple):
    """`name` is set for a pattern without a slash, which applies to names in any folder; otherwise `path` is set."""

    ignores: bool
    only_folders: bool
    name: re.Pattern[str] | None
    path: PathPattern | None


def _rule(line: str) -> _Rule | None:
    pattern = _without_trailing_spaces(line.removesuffix("\r"))
    if not pattern or pattern.startswith("#"):
        return None
    ignores = not pattern.startswith("!")
    pattern = pattern if ignores else pattern[1:]
    only_folders = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern:
        return None
    if "/" not in pattern:
        return _Rule(ignores, only_folders, re.compile(f"(?s:{name_regex(pattern)})"), None)
    return _Rule(ignores, only_folders, None, PathPattern(_ESCAPED.sub(_plain_slash, pattern.removeprefix("/"))))


def _plain_slash(escaped: re.Match[str]) -> str:
    return "/" if escaped[1] == "/" else escaped[0]


def _without_trailing_spaces(line: str) -> str:
    """Remove trailing spaces, except one that is escaped."""
    kept = line.rstrip(" ")
    escapes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if escapes % 2 and len(kept) < len(line) else kept
