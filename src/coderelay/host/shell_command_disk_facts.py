"""Disk lookups before a shell command is judged: where symlinks lead, and whether it would show secret files."""

import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from coderelay.host.secrets_shown_by_command import SEARCH_SECONDS, SecretSearch, is_inside
from coderelay.policy.rules import Rules
from coderelay.policy.shell.disk_fact_types import DiskFacts
from coderelay.policy.shell.requested_rights import without_rights

if TYPE_CHECKING:
    from coderelay.policy.shell.shown_files import ShownContent

_MOST_HOPS = 16


class DiskLookup(Struct, frozen=True):
    """What to look up for one command, found from the text of the command alone."""

    folders: tuple[str, ...]
    home: str = ""
    named: tuple[str, ...] = ()
    contents: "tuple[ShownContent, ...]" = ()
    programs: tuple[str, ...] = ()


def facts_about(command: str, folders: tuple[str, ...], rules: Rules, home: str) -> DiskFacts:
    return look_up(lookup_for(command, folders, rules, home))


def lookup_for(command: str, folders: tuple[str, ...], rules: Rules, home: str) -> DiskLookup:
    from coderelay.policy.shell.command_paths import paths_of
    from coderelay.policy.shell.possible_commands import words_in
    from coderelay.policy.shell.shown_files import contents_of  # imported late: most turns run no command

    text = without_rights(command)
    strict = (*rules.commands.deny, *rules.commands.ask)
    programs = {*words_in(text), *(rule[0] for rule in strict if rule)} if strict else set[str]()
    on_paths = any(rule.about == "path" for rule in (*rules.deny, *rules.ask))
    return DiskLookup(
        folders=folders,
        home=home,
        named=tuple(paths_of(text, folders, nested=on_paths)),
        contents=tuple(contents_of(text, folders)),
        programs=tuple(sorted(programs)),
    )


def look_up(lookup: DiskLookup) -> DiskFacts:
    """Do the lookup. It takes about a second at most, even in a large tree."""
    try:
        return _look_up(lookup)
    except (OSError, RecursionError):  # links that change meanwhile, or endless chains of links
        return DiskFacts(too_many=True)


def _look_up(lookup: DiskLookup) -> DiskFacts:
    search = SecretSearch(lookup.folders, lookup.home, time.monotonic() + SEARCH_SECONDS)
    secret = next((found for each in lookup.contents for found in search.secrets(each)), "")
    return DiskFacts(
        targets=tuple(_targets(lookup, search)),
        programs={word: hops for word in lookup.programs if (hops := _hops(word, lookup))},
        secret=secret,
        too_many=not secret and search.too_many,
    )


def _targets(lookup: DiskLookup, search: "SecretSearch") -> list[str]:
    """The targets of symlinks inside the session's folders that the command names or that one of its globs could
    match."""
    found = [path for each in lookup.named if is_inside(each, lookup.folders) for path in search.expanded(each)]
    roots = {os.path.realpath(folder): folder for folder in lookup.folders}
    targets = {_in_folder(os.path.realpath(path), roots) for path in found}
    return sorted(targets - {os.path.normpath(path) for path in found})


def _in_folder(real: str, roots: Mapping[str, str]) -> str:
    """A real path as the session names it, since the session's folder may itself be behind a symlink."""
    root = next((each for each in roots if real == each or real.startswith(f"{each}/")), None)
    return real if root is None else roots[root] + real[len(root) :]


def _hops(word: str, lookup: DiskLookup) -> tuple[str, ...]:
    """The paths that a word stands for as a program or a script, one for each symlink on the way."""
    path = re.sub(r"^\$(?:PWD|\{PWD\})(?=/)", ".", word)
    path = os.path.join(lookup.home, path[2:]) if path.startswith("~/") and lookup.home else path
    if not re.fullmatch(r"[\w./+@%:,=-]+", path):
        return ()
    begins = [os.path.join(folder, path) for folder in lookup.folders]
    if "/" not in path and (program := shutil.which(path)):
        begins.append(program)
    return tuple(dict.fromkeys(hop for begin in begins if os.path.lexists(begin) for hop in _chain(begin)))


def _chain(path: str) -> Iterator[str]:
    for _ in range(_MOST_HOPS):
        yield os.path.normpath(path)
        if not os.path.islink(path):
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    yield os.path.realpath(path)
