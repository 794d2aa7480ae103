"""Detects commands that need the network: whether one starts a program whose purpose is to talk to other machines.

A program that is not detected gets no right to the network, and fails in the sandbox.
"""

import re
from collections.abc import Sequence

from coderelay.policy.shell.possible_commands import Command, PossibleCommand, Record, walk
from coderelay.policy.shell.programs.program_spec import Program
from coderelay.policy.shell.programs.program_table import PROGRAMS, find_program
from coderelay.policy.shell.tree_sitter_bash import MOST_CHARACTERS

_HERE = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\]|::1)(?::\d+)?(?:[/?#].*)?$")
_NAMES = [name for name, program in PROGRAMS.items() if program.network is not None or program.remote_operand]
_SUSPECT = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, _NAMES)) + r")(?![\w-])")


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


def _is_one(words: tuple[str, ...]) -> bool:
    program, rest = started_program(words)
    return talks_to_others(words) and (bool(program.remote_operand) or not _stays_here(rest))


def talks_to_others(words: tuple[str, ...]) -> bool:
    """Whether a program talks to other machines, or to a server on this one, when it is given these words."""
    program, rest = started_program(words)
    if program.remote_operand:
        return any(re.match(program.remote_operand, word) for word in rest)
    if program.network is None:
        return False
    by_subcommand = _subcommand(rest, program) in program.network or (program.network_alone and not rest)
    return not program.network or by_subcommand


def started_program(words: tuple[str, ...]) -> tuple[Program, tuple[str, ...]]:
    """What is known of the program, and its words; of an interpreter that runs a program as a module, of that one."""
    program, rest = find_program(words[0]), words[1:]
    if rest[:1] == ("-m",) and rest[1:2] and rest[1] in program.modules:
        return find_program(rest[1]), rest[2:]
    return program, rest


def _stays_here(words: Sequence[str]) -> bool:
    """Whether all addresses that are named are local, within the sandbox, where a server of the session may run."""
    named = [word.partition("://")[2] for word in words if "://" in word]
    bare = [word for word in words if _HERE.match(word)]
    return bool(named or bare) and all(map(_HERE.match, named))


def _subcommand(words: Sequence[str], program: Program) -> str:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        rest = rest[2 if rest[0] in program.value_options else 1 :]
    return rest[0] if rest else ""
