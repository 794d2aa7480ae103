"""Matches path and host rules against the paths that a command reaches: behind `cd`, in loops, by globs, in folders.

It only ever makes a verdict stricter: any word that could be a path is taken for one.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from coderelay.policy.rules import PathBase
from coderelay.policy.shell.programs.allowed_folders import CommandFolders as Workspace
from coderelay.policy.shell.programs.allowed_folders import NotReadOnly
from coderelay.policy.shell.programs.find import RUN_ACTIONS
from coderelay.policy.shell.programs.harmless_option_check import Options, check
from coderelay.policy.shell.programs.program_table import system_name, system_program
from coderelay.policy.shell.programs.wrappers import unwrap
from coderelay.policy.shell.strict_bash_parser import Script, Word, literal_script
from coderelay.protocol.secret_paths import is_left_out, secret_beneath_home

_MOST_FOLDERS = 32
_MOST_PATHS = 1000
_MOST_PROGRAMS = 8
_LONGEST_PATH = 4096
_RECURSIVE = re.compile(r"-[A-Za-z]*[rR][A-Za-z]*|--(?:dereference-)?recursive")


class ReachedPath(Struct, frozen=True):
    """An absolute path that a command may reach. `deep` says that everything below it is read too."""

    path: str
    glob: bool = False
    deep: bool = False


_EVERYTHING = ReachedPath("/", deep=True)


def paths_of(command: str, folders: tuple[str, ...]) -> list[str]:
    """All absolute paths that a literal command may name; they may hold glob patterns."""
    script = literal_script(command)
    return sorted({each.path for each in reached_by(script, PathBase(folders))}) if script else []


def secret_at_home(script: Script, base: PathBase) -> str | None:
    """The first place for secrets beneath home that a command may name, by whatever spelling, or None."""
    commands = [
        replace(command, words=tuple(each for each in command.words if not is_left_out(each.text)))
        for command in script.commands
    ]
    reached = reached_by(Script(tuple(commands), script.redirections), base)
    if _EVERYTHING in reached:
        return base.home
    paths = [(posixpath.normpath(each.path), each.glob) for each in reached]
    found = (secret_beneath_home(path, base.home, base.folders, glob=glob) for path, glob in paths)
    return min(filter(None, found), default=None)


def reached_by(script: Script, base: PathBase) -> set[ReachedPath]:
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
            return {*islice(found, _MOST_PATHS), _EVERYTHING}
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
