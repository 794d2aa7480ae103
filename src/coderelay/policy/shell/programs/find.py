"""Read-only check for find: tests, printing, and -exec of a program that only reads any number of files."""

import re
from collections.abc import Sequence

from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.dangerous_and_network_programs import finds_and_removes_all_files
from coderelay.policy.shell.programs.file_readers import FILE_READERS
from coderelay.policy.shell.programs.harmless_option_check import Options, check_pattern
from coderelay.policy.shell.programs.program_spec import Program
from coderelay.policy.shell.strict_bash_parser import Word
from coderelay.protocol.translatable import say

RUN_ACTIONS = ("-exec", "-execdir", "-ok", "-okdir")
_ALONE = {
    "-a", "-and", "-o", "-or", "-not", "!", "(", ")", ",", "-empty", "-print", "-print0", "-prune", "-ls", "-quit",
    "-depth", "-xdev", "-mount", "-daystart", "-follow", "-true", "-false", "-readable", "-writable", "-executable",
    "-nouser", "-nogroup", "-noleaf", "-ignore_readdir_race",
}  # fmt: skip
_WITH_VALUE = {
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-regextype", "-type",
    "-xtype", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-perm",
    "-user", "-group", "-uid", "-gid", "-links", "-inum", "-lname", "-ilname", "-printf",
}  # fmt: skip
_NEWER_THAN = re.compile(r"-newer[aBcm]t")
_OF_FILES = {"-newer", "-anewer", "-cnewer", "-samefile"}


def recognise_find(words: Sequence[Word], folders: CommandFolders) -> Sequence[Word] | None:
    """Refuses actions that write or run. Returns the arguments of an `-exec`, which must be recognised as well."""
    rest = list(words)
    inner: list[Word] | None = None
    while rest and rest[0].text in ("-L", "-H", "-P"):
        rest.pop(0)
    while rest and not rest[0].text.startswith("-") and rest[0].text not in ("(", "!"):
        _check_file(rest.pop(0), folders)
    while rest:
        word = rest.pop(0)
        if word.glob:
            raise NotReadOnly(say("the pattern {pattern} could become an action", pattern=word.text))
        if word.text in _ALONE:
            continue
        if word.text == "-exec" and inner is None:
            inner = _exec(rest)
        elif word.text in _OF_FILES and rest:
            _check_file(rest.pop(0), folders)
        elif (word.text in _WITH_VALUE or _NEWER_THAN.fullmatch(word.text)) and rest:
            if rest.pop(0).glob:
                raise NotReadOnly("the shell replaces an unquoted pattern by file names before find sees it")
        else:
            raise NotReadOnly(say("find {option} may change things", option=word.text))
    return inner


def _exec(rest: list[Word]) -> list[Word]:
    inner: list[Word] = []
    while rest and rest[0].text not in (";", "+"):
        inner.append(rest.pop(0))
    if not rest or not inner:
        raise NotReadOnly("find -exec has no end")
    rest.pop(0)
    reader = FILE_READERS.get(inner[0].text)
    if reader is None or reader.reads is None or not _takes_many(reader.reads) or inner[-1].text != "{}":
        raise NotReadOnly("find -exec runs a program")
    if any("{}" in each.text for each in inner[:-1]):
        raise NotReadOnly("find -exec runs a program")
    return inner


def _takes_many(known: Options) -> bool:
    """Whether the program takes any number of files of any name. find passes no name that begins with a dash."""
    return known.any_option or not (known.text_operands or known.most_operands is not None or known.at_files)


def _check_file(word: Word, folders: CommandFolders) -> None:
    check_pattern(word)
    if word.glob and word.text[0] in "*?":
        raise NotReadOnly(say("the pattern {pattern} could become an action", pattern=word.text))
    if not folders.holds(word.text):
        raise NotReadOnly(say("{path} is outside the workspace", path=word.text))


def find_find_danger(words: Sequence[str]) -> str | None:
    return "it removes files" if "-delete" in words else None


FIND = Program(
    recognise=recognise_find,
    whole="actions",
    command_at=0,
    find_danger=find_find_danger,
    find_destruction=finds_and_removes_all_files,
)
