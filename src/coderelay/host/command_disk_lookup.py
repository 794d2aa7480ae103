"""Disk lookups before a shell command is judged: where symlinks lead, and whether it would show secret files."""

import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from msgspec import Struct

from coderelay.policy.rules import Rules
from coderelay.policy.shell.requested_rights import DiskFacts, without_rights
from coderelay.protocol.secret_paths import is_often_shared, may_name_secret, secret_place
from coderelay.workspace.trees.git_index_parser import indexed_paths
from coderelay.workspace.trees.project_repository import read_regular

if TYPE_CHECKING:
    from coderelay.policy.shell.shown_files import ShownContent

_MOST_ENTRIES = 100_000
_MOST_HOPS = 16
_SECONDS = 1.0
# Folders in which people keep no secrets of their own; they are not searched.
_OF_OTHERS = {".git", "node_modules", "site-packages", "__pycache__"}
_GIVES_ACCESS = re.compile(rb"_(?:auth|authToken|password)\s*=\s*(?!\$)\S")
_OF_OUR_HOME = ("sessions.db", "web.token")


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
    from coderelay.policy.shell.danger import words_in
    from coderelay.policy.shell.shown_files import contents_of  # imported late: most turns run no command

    text = without_rights(command)
    strict = (*rules.commands.deny, *rules.commands.ask)
    programs = {*words_in(text), *(rule[0] for rule in strict if rule)} if strict else set[str]()
    return DiskLookup(
        folders=folders,
        home=home,
        named=tuple(paths_of(text, folders)),
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
    search = _SecretSearch(lookup.folders, time.monotonic() + _SECONDS)
    secret = next((found for each in lookup.contents for found in search.secrets(each)), "")
    return DiskFacts(
        targets=tuple(_targets(lookup, search)),
        programs={word: hops for word in lookup.programs if (hops := _hops(word, lookup))},
        secret=secret,
        too_many=not secret and search.too_many,
    )


def _targets(lookup: DiskLookup, search: "_SecretSearch") -> list[str]:
    """The targets of symlinks inside the session's folders that the command names or that one of its globs could
    match."""
    found = [path for each in lookup.named if _is_inside(each, lookup.folders) for path in search.expanded(each)]
    roots = {os.path.realpath(folder): folder for folder in lookup.folders}
    targets = {_in_folder(os.path.realpath(path), roots) for path in found}
    return sorted(targets - {os.path.normpath(path) for path in found})


def _is_inside(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)


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


class _SecretSearch:
    """A search of the disk with a limit on time and entries. `too_many` says that it gave up."""

    def __init__(self, folders: tuple[str, ...], until: float) -> None:
        self._folders = folders
        self._real = tuple(os.path.realpath(folder) for folder in folders)
        self._until = until
        self._entries_seen = 0
        self.too_many = False

    def secrets(self, contents: "ShownContent") -> Iterator[str]:
        if not _is_inside(contents.path, self._folders):
            return  # paths outside the session's folders are asked about anyway
        if contents.tracked:
            yield from self._tracked(contents)
            return
        for path in self.expanded(contents.path):
            if contents.deep and os.path.isdir(path):
                yield from self._below(path, contents)
            elif os.path.isfile(path) and (secret := self._named(path) or self._named(os.path.realpath(path))):
                yield secret

    def expanded(self, path: str) -> list[str]:
        """The existing paths that a shell glob expands to."""
        if not set("*?") & set(path):
            return [path]
        found = ["/"]
        for part in path.strip("/").split("/"):
            if not set("*?") & set(part):
                found = [os.path.join(folder, part) for folder in found]
                continue
            pattern = part.replace("[", "[[]")
            found = [
                entry.path
                for folder in found
                if not self.too_many
                for entry in self._entries(folder)
                if fnmatchcase(entry.name, pattern) and (entry.name[0] != "." or part[0] == ".")
            ]
        return [each for each in found if os.path.lexists(each)] if not self.too_many else []

    def _entries(self, folder: str) -> "Iterator[os.DirEntry[str]]":
        """The entries of a folder, one by one: there may be millions."""
        with suppress(OSError), os.scandir(folder) as found:
            for entry in found:
                self._entries_seen += 1
                late = self._entries_seen % 1000 == 0 and time.monotonic() > self._until
                if late or self._entries_seen > _MOST_ENTRIES:
                    self.too_many = True
                if self.too_many:
                    return
                yield entry

    def _named(self, path: str) -> str | None:
        """The kind of secret that a path names, or None. Only the part below the session's folder counts: the folder
        itself may be called anything."""
        return secret_place(_below_all(path, (*self._folders, *self._real)))

    def _tracked(self, contents: "ShownContent") -> Iterator[str]:
        for path in indexed_paths(self._folders[0], may_name_secret):
            if (secret := self._named(path)) and not is_often_shared(secret):
                start = os.path.normpath(contents.path)
                if start == self._folders[0] or path == start or path.startswith(f"{start}/"):
                    yield secret

    def _below(self, start: str, contents: "ShownContent") -> Iterator[str]:
        folders, seen = [start], {os.path.realpath(start)}
        if {*_below_all(start, self._folders).split("/")} & _OF_OTHERS:
            return
        while folders and not self.too_many:
            for entry in self._entries(folders.pop()):
                name = entry.name
                if name[0] == "." and not contents.hidden:
                    continue
                link = entry.is_symlink()
                if link and not contents.follow:
                    continue
                folder = os.path.isdir(entry.path) if link else entry.is_dir()
                left_out = contents.without_folders if folder else contents.without
                if any(fnmatchcase(name, each) for each in left_out):
                    continue
                real = os.path.realpath(entry.path) if link else entry.path
                if (link or may_name_secret(name)) and (secret := self._named(entry.path) or self._named(real)):
                    if _holds_secret(entry.path, secret) and (folder or _is_looked_at(name, contents)):
                        yield secret
                    continue
                if folder and name not in _OF_OTHERS and real not in seen:
                    folders.append(entry.path)
                    seen.add(real)


def _is_looked_at(name: str, contents: "ShownContent") -> bool:
    return not contents.only or any(fnmatchcase(name.lower(), each.lower()) for each in contents.only)


def _holds_secret(path: str, place: str) -> bool:
    """Whether something with the name of a secret really holds one. `.coder` and `.npmrc` are often an ordinary part
    of a project, so their contents are checked."""
    try:
        if place == ".coder":
            return any(os.path.lexists(os.path.join(path, name)) for name in _OF_OUR_HOME)
        if place == ".npmrc":
            return _GIVES_ACCESS.search(read_regular(path, 65536) or b"") is not None
        return not os.path.isdir(path) or bool(os.listdir(path))
    except OSError:
        return False


def _below_all(path: str, folders: Sequence[str]) -> str:
    """The rest of a path below the innermost of these folders."""
    return path[max((len(each) for each in folders if _is_inside(path, (each,))), default=0) :]
