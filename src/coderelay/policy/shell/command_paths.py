"""Matches path and host rules against the paths that a command reaches: behind `cd`, in loops, by globs, in folders.

It only ever makes a verdict stricter: any word that could be a path is taken for one.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from coderelay.policy.path_and_host_patterns import host_matches, hosts_named, may_meet
from coderelay.policy.rules import PathBase, Rule, is_about_paths, means_path
from coderelay.policy.shell.parser import Script, Word, literal_script
from coderelay.policy.shell.possible_commands import ShellText, walk
from coderelay.policy.shell.programs.find import RUN_ACTIONS
from coderelay.policy.shell.programs.options import CommandFolders as Workspace
from coderelay.policy.shell.programs.options import NotReadOnly, Options, check
from coderelay.policy.shell.programs.program_table import system_name, system_program
from coderelay.policy.shell.programs.wrappers import unwrap
from coderelay.policy.shell.tree_sitter_words import find_nodes

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_FOLDERS = 32
_MOST_PATHS = 1000
_MOST_PROGRAMS = 8
_LONGEST_PATH = 4096
_RECURSIVE = re.compile(r"-[A-Za-z]*[rR][A-Za-z]*|--(?:dereference-)?recursive")
_WORDS = ("word", "string", "raw_string", "concatenation")


class ReachedPath(Struct, frozen=True):
    """An absolute path that a command may reach. `deep` says that everything below it is read too."""

    path: str
    glob: bool = False
    deep: bool = False


def paths_of(command: str, folders: tuple[str, ...]) -> list[str]:
    """All absolute paths that a literal command may name; they may hold glob patterns."""
    script = literal_script(command)
    return sorted({each.path for each in _reached(script, PathBase(folders))}) if script else []


def find_reached(rules: Sequence[Rule], script: Script, base: PathBase, targets: tuple[str, ...] = ()) -> Rule | None:
    """The first rule on a path that the command surely names. `targets` are the paths to which links lead."""
    paths = [rule for rule in rules if rule.about == "path"]
    reached = {*targets, *(each.path for each in _reached(script, base))} if paths else set[str]()
    return next((rule for rule in paths if any(means_path(rule, each, base) for each in reached)), None)


def find_perhaps_reached(rules: Sequence[Rule], script: Script, base: PathBase) -> Rule | None:
    """The first rule on a path that a glob could expand to, or that lies in a folder whose files are all read."""
    paths = [rule for rule in rules if rule.about == "path"]
    wide = [each for each in _reached(script, base) if each.glob or each.deep] if paths else []
    return next((rule for rule in paths if any(_may_be_meant(rule, each, base) for each in wide)), None)


def _may_be_meant(rule: Rule, reached: ReachedPath, base: PathBase) -> bool:
    deep = reached.deep and is_about_paths(rule, "read")
    return (deep or reached.glob) and may_meet(rule.target, reached.path, base.folders, base.home, deep=deep)


def _reached(script: Script, base: PathBase) -> set[ReachedPath]:
    folders = {base.folders[0] if base.folders else "/"}
    handed_on = any(_gives_names(command.words) for command in script.commands)
    found: set[ReachedPath] = set()
    for command in script.commands:
        words = command.words
        whole = set(_read_whole(words, base, handed_on))
        for word in (*(part for each in words for part in _spellings(each)), *whole):
            deep = word in whole
            found |= {ReachedPath(posixpath.join(folder, word.text), word.glob, deep) for folder in folders}
        if words[0].text == "cd" and len(words) == 2:  # the cd may not be run, so the old folders still count
            folders |= {posixpath.join(folder, words[1].text) for folder in folders}
        too_long = any(len(word.text) > _LONGEST_PATH for word in words)
        if too_long or len(folders) > _MOST_FOLDERS or len(found) > _MOST_PATHS:
            return {*islice(found, _MOST_PATHS), ReachedPath("/", deep=True)}
    return found | {
        ReachedPath(posixpath.join(folder, each.target)) for folder in folders for each in script.redirections
    }


def _gives_names(words: Sequence[Word]) -> bool:
    """Whether the command is an xargs that gives the names it reads to a program that may open them."""
    try:
        return words[0].text == "xargs" and not unwrap("xargs", words[1:])
    except NotReadOnly:
        return True


def _spellings(word: Word) -> Iterator[Word]:
    """The parts of a word that may be a path: all of it, or what is joined to an option or follows a revision."""
    text = word.text
    parts = (text, text.partition("=")[2], text.partition(":")[2], text[2:] if re.match(r"-[A-Za-z]", text) else "")
    return (Word(part, word.glob) for part in parts if 0 < len(part) <= _LONGEST_PATH)


def _read_whole(words: Sequence[Word], base: PathBase, handed_on: bool) -> list[Word]:
    """The folders whose files are all read, or whose file names are handed on to a program that reads them."""
    for at in [at for at, word in enumerate(words) if system_program(word.text).whole][:_MOST_PROGRAMS]:
        name, program, rest = system_name(words[at].text), system_program(words[at].text), words[at + 1 :]
        recursive = any(_RECURSIVE.fullmatch(each.text) for each in rest)
        if program.searches and program.reads is not None and (name == "rg" or recursive):
            return _searched(program.reads, rest, base)
        if name == "git" and (handed_on or any(each.text == "grep" for each in rest)):
            return [Word(".")]
        if name == "find" and (handed_on or any(each.text in RUN_ACTIONS for each in rest)):
            begins = next((at for at, each in enumerate(rest) if each.text[:1] in ("-", "(", "!")), len(rest))
            return list(rest[:begins]) or [Word(".")]
        if (name == "diff" and recursive) or (name in ("ls", "tree") and handed_on):
            return [Word("."), *rest]
    return []


def _searched(known: Options, words: Sequence[Word], base: PathBase) -> list[Word]:
    try:
        paths = check(words, known, Workspace(base.folders, reading=True)).paths
    except NotReadOnly:
        return [Word("."), *words]
    return [word for word in words if word.text in paths] or [Word(".")]


def find_named(rules: Sequence[Rule], text: str, base: PathBase) -> Rule | None:
    """The first rule on a path or a host that is named anywhere in the text, which need not be literal."""
    hosts = [rule for rule in rules if rule.about == "host"]
    named = hosts_named(text) if hosts else []
    for rule in hosts:
        if any(host_matches(rule.target, host) for host in named):
            return rule
    paths = [rule for rule in rules if rule.about == "path"]
    if not paths:
        return None
    words = [word for record in walk(text) if isinstance(record, ShellText) for word in _words(record.root)]
    return next((rule for rule in paths if any(means_path(rule, word, base) for word in words)), None)


def _words(root: "Node") -> list[str]:
    """All words without their quotes, and what is behind the `=` of an option."""
    found: list[str] = []
    for node in find_nodes(root, *_WORDS):
        text = (node.text or b"").decode(errors="replace").replace('"', "").replace("'", "").replace("\\", "")
        found += [text, text.partition("=")[2]] if "=" in text else [text]
    return [text for text in found if text]
