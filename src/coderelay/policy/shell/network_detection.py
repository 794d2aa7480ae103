"""Detects commands that need the network: whether one starts a program whose purpose is to talk to other machines.

A program that is not detected gets no right to the network, and fails in the sandbox.
"""

import re
from collections.abc import Sequence

from coderelay.policy.shell.possible_commands import Command, PossibleCommand, Record, walk
from coderelay.policy.shell.programs.program_table import PROGRAMS, base_name, find_program
from coderelay.policy.shell.tree_sitter_bash import MOST_CHARACTERS

_TAKE_A_VALUE = {"-C", "-c", "--git-dir", "--work-tree", "--prefix", "--cwd", "--project", "--directory"}
_HERE = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\]|::1)(?::\d+)?(?:[/?#].*)?$")
_NAMES = [name for name, program in PROGRAMS.items() if program.network is not None]
_SUSPECT = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, [*_NAMES, "rsync"])) + r")(?![\w-])")


def needs_network(command: str) -> bool:
    """Whether a command starts such a program. Most texts name none, and need not be parsed."""
    if not _SUSPECT.search(command) or len(command) > MOST_CHARACTERS or re.search("[\ud800-\udfff]", command):
        return False
    return any(map(_does_one, walk(command)))


def _does_one(record: Record) -> bool:
    match record:
        case Command(words) | PossibleCommand(words, wrapped=True):
            return _is_one(words)
        case _:
            return False


def _is_one(words: Sequence[str]) -> bool:
    name, rest = base_name(words[0]), words[1:]
    if find_program(name).interprets == "code" and tuple(rest[:2]) == ("-m", "pip"):
        name, rest = "pip", rest[2:]
    if name == "rsync":
        return any(re.match(r"(?:[\w.-]+@)?[\w.-]+:", word) for word in rest)
    subcommands = find_program(name).network
    if subcommands is None or _stays_here(rest):
        return False
    return not subcommands or _subcommand(rest) in subcommands or (name == "yarn" and not rest)


def _stays_here(words: Sequence[str]) -> bool:
    """Whether all addresses that are named are local, within the sandbox, where a server of the session may run."""
    named = [word.partition("://")[2] for word in words if "://" in word]
    bare = [word for word in words if _HERE.match(word)]
    return bool(named or bare) and all(map(_HERE.match, named))


def _subcommand(words: Sequence[str]) -> str:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        rest = rest[2 if rest[0] in _TAKE_A_VALUE else 1 :]
    return rest[0] if rest else ""
