"""Proves that one command only reads, or only makes files, from the tables of known programs; all others fail."""

from collections.abc import Sequence

from msgspec.structs import replace

from coderelay.policy.shell.programs.build_tools import PIP
from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.git import has_git_table
from coderelay.policy.shell.programs.harmless_option_check import check
from coderelay.policy.shell.programs.other_read_only_programs import lists_archive
from coderelay.policy.shell.programs.program_table import system_name, system_program
from coderelay.policy.shell.programs.shells_and_wrappers import unwrap
from coderelay.policy.shell.strict_bash_parser import Word
from coderelay.protocol.autorun_files import autorun_entry
from coderelay.protocol.translatable import say

_MOST_WRAPPERS = 8
_NEVER_EDITED = {".git", ".coder"}


def recognise(words: Sequence[Word], folders: CommandFolders) -> None:
    """Returns if the command is proved to only read; otherwise raises NotReadOnly with the reason."""
    words = without_wrappers(words)
    name, program, rest = system_name(words[0].text), system_program(words[0].text), words[1:]
    folders = replace(folders, reading=True)
    if len(rest) == 1 and rest[0].text in program.version:
        return
    if program.recognise is not None:
        inner = program.recognise(rest, folders)
        if inner is not None:
            recognise(inner, folders)
    elif program.reads is not None:
        check(rest, program.reads, folders)
    else:
        raise NotReadOnly(say("{program} may change things", program=name))


def without_wrappers(words: Sequence[Word]) -> Sequence[Word]:
    """The command behind all wrappers such as `timeout`. Raises NotReadOnly if it cannot be told exactly."""
    for _ in range(_MOST_WRAPPERS):
        if not system_program(words[0].text).plain_start:
            break
        words = unwrap(system_name(words[0].text), words[1:])
    return words


def recognise_edit(words: Sequence[Word], folders: CommandFolders) -> None:
    """Returns if the command only makes empty files and folders in the workspace; otherwise raises NotReadOnly."""
    edits = system_program(words[0].text).edits
    if edits is None:
        raise NotReadOnly(say("{program} may do more than edit files", program=system_name(words[0].text)))
    if any(word.glob for word in words):
        raise NotReadOnly("a file name pattern stands where a plain word is needed")
    for path in check(words[1:], edits, folders).paths:
        if {part.lower() for part in path.split("/")} & _NEVER_EDITED or autorun_entry(path):
            raise NotReadOnly(say("another program would run what {path} contains", path=path))


def has_table(words: Sequence[str]) -> bool:
    """Whether a table says with which options this program, with this subcommand, only reads."""
    name, rest = system_name(words[0]), words[1:]
    match name:
        case "git":
            return has_git_table(rest)
        case "pip" | "pip3":
            return bool(rest) and rest[0] in PIP
        case "tar" | "unzip":
            return bool(rest) and lists_archive(name, rest[0])
        case _:
            program = system_program(words[0])
            return program.reads is not None or program.recognise is not None
