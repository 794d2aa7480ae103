"""Which files a repository does not want to be looked at: the rules of one .gitignore, as git reads them."""

import re
from typing import NamedTuple

from coderelay.tools.search.glob_pattern import PathPattern, name_regex

_ESCAPED = re.compile(r"\\(.)")


class _Rule(NamedTuple):
    """`name` for a pattern without a slash, which goes for names in any folder; else `path`."""

    ignores: bool
    only_folders: bool
    name: re.Pattern[str] | None
    path: PathPattern | None


class IgnoreRules:
    def __init__(self, text: str) -> None:
        rules = [_rule(line) for line in text.removeprefix("\ufeff").split("\n")]
        self._rules = [rule for rule in rules if rule is not None][::-1]  # the last one that matches counts
        names = [each.name.pattern for each in self._rules if each.name is not None]
        self._any_name = re.compile("|".join(names)) if names else None
        self._paths = [each for each in self._rules if each.path is not None]

    def verdict(self, path: str, name: str, is_folder: bool) -> bool | None:
        """Whether a path beneath the folder of these rules is ignored; None if they do not say."""
        by_name = self._any_name is not None and self._any_name.fullmatch(name) is not None
        rules = self._rules if by_name else self._paths
        for rule in rules:
            if rule.only_folders and not is_folder:
                continue
            if rule.name.fullmatch(name) if rule.name else rule.path is not None and rule.path.matches(path):
                return rule.ignores
        return None


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
    """All but one that is escaped."""
    kept = line.rstrip(" ")
    escapes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if escapes % 2 and len(kept) < len(line) else kept
