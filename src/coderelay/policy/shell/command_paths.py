"""Finds the paths that a command reaches: behind `cd`, in loops, by globs, in folders, in texts for another shell.

Whatever is found only makes a verdict stricter: any word that could be a path is taken for one.
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from coderelay.policy.rules import PathBase
from coderelay.policy.shell.approximate_bash_words import all_words, alternatives, commands_in, globs_in
from coderelay.policy.shell.deny_and_ask_rule_matching import is_understood
from coderelay.policy.shell.nested_shell_texts import (
    MOST_FOLDERS,
    NestedText,
    folders_after,
    folders_entered,
    shell_texts,
)
from coderelay.policy.shell.possible_commands import MOST_WORDS, Command, LateSubstitution, walk
from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders as Workspace
from coderelay.policy.shell.programs.command_folders_and_not_read_only import NotReadOnly
from coderelay.policy.shell.programs.find import RUN_ACTIONS
from coderelay.policy.shell.programs.harmless_option_check import Options, check
from coderelay.policy.shell.programs.program_table import base_name, find_program
from coderelay.policy.shell.programs.shells_and_wrappers import unwrap
from coderelay.policy.shell.strict_bash_parser import Script, Word, literal_script
from coderelay.protocol.secret_paths import is_left_out, secret_beneath_home

_MOST_PATHS = 1000
_MOST_PROGRAMS = 8
_LONGEST_PATH = 4096
_RECURSIVE = re.compile(r"-[A-Za-z]*[rR][A-Za-z]*|--(?:dereference-)?recursive")
_COMPUTED = re.compile(r"[$`]")
# Builtins that read names, which other commands of the text may open.
_READ_NAMES = {"read", "mapfile", "readarray"}


class AccessedPath(Struct, frozen=True):
    """An absolute path that a command may reach. `deep` says that everything below it is read too."""

    path: str
    glob: bool = False
    deep: bool = False


class Reach(Struct, frozen=True):
    """The paths that a command reaches: those that its literal texts `named`, and the `wide` ones, which may become
    other paths or stand for all that is below them. Of a text that is not literal, all paths are wide."""

    named: frozenset[str] = frozenset()
    wide: frozenset[AccessedPath] = frozenset()


_EVERYTHING = AccessedPath("/", deep=True)


@lru_cache(maxsize=8)
def reach_of(command: str, folders: tuple[str, ...]) -> Reach:
    """What a command text reaches, and each text in it that a shell runs."""
    named: set[str] = set()
    wide: set[AccessedPath] = set()
    texts = shell_texts(command, folders[0] if folders else "/")
    handed_on = _hands_names_on(command) if texts else False
    for text in texts:
        if text.script is not None:
            found = paths_accessed_by(text.script, folders, text.folders, handed_on=handed_on)
            named |= {each.path for each in found}
            wide |= {each for each in found if each.glob or each.deep}
        else:
            wide |= _or_everything(_perhaps_reached(text, folders, handed_on=handed_on))
        if len(text.folders) > MOST_FOLDERS or len(named) + len(wide) > 2 * _MOST_PATHS:
            return Reach(frozenset(named), frozenset((*wide, _EVERYTHING)))
    late = _or_everything(_reached_late(command, folders)) if texts else set[AccessedPath]()
    return Reach(frozenset(named), frozenset(wide | late))


def paths_of(command: str, folders: tuple[str, ...], *, nested: bool) -> list[str]:
    """All absolute paths that a literal command may name, or with `nested` also the literal texts in it for another
    shell. The paths may hold glob patterns."""
    if nested:
        return sorted(reach_of(command, folders).named)
    script, start = literal_script(command), folders[0] if folders else "/"
    found = paths_accessed_by(script, folders, (start,), handed_on=False) if script else set[AccessedPath]()
    return sorted({each.path for each in found})


def secret_at_home(script: Script, base: PathBase) -> str | None:
    """The first place for secrets beneath home that a command may name, by whatever spelling, or None."""
    commands = [
        replace(command, words=tuple(each for each in command.words if not is_left_out(each.text)))
        for command in script.commands
    ]
    start = base.folders[0] if base.folders else "/"
    reached = paths_accessed_by(Script(tuple(commands), script.redirections), base.folders, (start,), handed_on=False)
    if _EVERYTHING in reached:
        return base.home
    paths = [(posixpath.normpath(each.path), each.glob) for each in reached]
    found = (secret_beneath_home(path, base.home, base.folders, glob=glob) for path, glob in paths)
    return min(filter(None, found), default=None)


def paths_accessed_by(
    script: Script, inside: tuple[str, ...], start: Collection[str], *, handed_on: bool
) -> set[AccessedPath]:
    """What a literal script reaches that starts in one of the folders `start`. `inside` are the session's folders;
    `handed_on` says that names are given to a program that may open them."""
    folders = {*start}
    found: set[AccessedPath] = set()
    for command in script.commands:
        words = command.words
        folders = folders_after(folders, [*folders_entered([word.text for word in words])])
        whole = set(_read_whole(words, inside, handed_on=handed_on))
        for word in (*(part for each in words for part in _spellings(each)), *whole):
            deep = word in whole
            found |= {AccessedPath(posixpath.join(folder, word.text), word.glob, deep) for folder in folders}
        too_long = any(len(word.text) > _LONGEST_PATH for word in words)
        if too_long or len(folders) > MOST_FOLDERS or len(found) > _MOST_PATHS:
            return {*islice(found, _MOST_PATHS), _EVERYTHING}
    return found | {
        AccessedPath(posixpath.join(folder, each.target)) for folder in folders for each in script.redirections
    }


def _or_everything(paths: Iterator[AccessedPath]) -> set[AccessedPath]:
    found = {*islice(paths, _MOST_PATHS)}
    return found if next(paths, None) is None else found | {_EVERYTHING}


def _perhaps_reached(text: NestedText, inside: tuple[str, ...], *, handed_on: bool) -> Iterator[AccessedPath]:
    """What a text may reach that is not literal: by its globs, and by searches, also those whose output other words
    are made of. If it moves to other folders, any of its words may be a path there."""
    words = [*globs_in(text.root), *(all_words(text.root) if len(text.folders) > 1 else ())]
    yield from _joined(words, text.folders)
    commands = [*commands_in(text.root)]
    reads_names = handed_on or any(base_name(words[0]) in _READ_NAMES for words, _ in commands)
    for words, substituted in commands:
        needed = find_program(words[0]).listing
        lists = not needed or not needed.isdisjoint(words)
        used = handed_on or (lists and (substituted or reads_names))
        for each in _read_whole([Word(word) for word in words], inside, handed_on=used):
            if _COMPUTED.search(each.text):
                yield _EVERYTHING
            yield from (AccessedPath(posixpath.join(folder, each.text), deep=True) for folder in text.folders)


def _reached_late(command: str, folders: tuple[str, ...]) -> Iterator[AccessedPath]:
    """What the substitutions may reach that the shell does not make now but may make later."""
    for record in walk(command):
        if isinstance(record, LateSubstitution) and not (record.command and is_understood(record.command)):
            for part in re.split(r"\$\(|[`;|&()\n]", record.text)[1:]:
                words = [each for word in part.split()[:MOST_WORDS] for each in alternatives(word)]
                yield from _joined(words, folders[:1] or ("/",))
                for each in _read_whole([Word(word) for word in words], folders, handed_on=True):
                    yield from (AccessedPath(posixpath.join(folder, each.text), deep=True) for folder in folders[:1])


def _joined(words: Sequence[str], folders: Collection[str]) -> Iterator[AccessedPath]:
    for word in words:
        for part in _spellings(Word(word)):
            yield from (AccessedPath(posixpath.join(folder, part.text), glob=True) for folder in folders)


def _hands_names_on(command: str) -> bool:
    """Whether a command starts xargs, or a program like it, which gives the names that it reads to a program that may
    open them."""
    return any(_gives_names(record.words) for record in walk(command) if isinstance(record, Command))


def _gives_names(words: Sequence[str]) -> bool:
    if not find_program(words[0]).adds_words:
        return False
    try:
        return not unwrap("xargs", [Word(each) for each in words[1:]])
    except NotReadOnly:
        return True


def _spellings(word: Word) -> Iterator[Word]:
    """The parts of a word that may be a path: all of it, or what is joined to an option or follows a revision."""
    text = word.text
    parts = (text, text.partition("=")[2], text.partition(":")[2], text[2:] if re.match(r"-[A-Za-z]", text) else "")
    return (Word(part, word.glob) for part in parts if 0 < len(part) <= _LONGEST_PATH)


def _read_whole(words: Sequence[Word], inside: tuple[str, ...], *, handed_on: bool) -> list[Word]:
    """The folders whose files are all read, or whose file names are handed on to a program that reads them."""
    for at in [at for at, word in enumerate(words) if find_program(word.text).whole][:_MOST_PROGRAMS]:
        program, rest = find_program(words[at].text), words[at + 1 :]
        recursive = any(_RECURSIVE.fullmatch(each.text) for each in rest)
        match program.whole:
            case "always" | "recursive" if program.searches and (recursive or program.whole == "always"):
                return _searched(program.reads or Options(), rest, inside)
            case "grep" if handed_on or any(each.text == "grep" for each in rest):
                return [Word(".")]
            case "actions" if handed_on or any(each.text in RUN_ACTIONS for each in rest):
                begins = next((at for at, each in enumerate(rest) if each.text[:1] in ("-", "(", "!")), len(rest))
                return list(rest[:begins]) or [Word(".")]
            case "recursive" if recursive and not program.searches:
                return [Word("."), *rest]
            case "names" if handed_on:
                return [Word("."), *rest]
            case _:
                pass
    return []


def _searched(known: Options, words: Sequence[Word], inside: tuple[str, ...]) -> list[Word]:
    try:
        paths = check(words, known, Workspace(inside, reading=True)).paths
    except NotReadOnly:
        return [Word("."), *words]
    return [word for word in words if word.text in paths] or [Word(".")]
