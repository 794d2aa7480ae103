"""Finds the hosts that the programs in a command are told to call, by an address or by a bare name.

It only makes a verdict stricter: any word of a network program that could be a host is taken for one.
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from coderelay.policy.path_and_host_patterns import hosts_named
from coderelay.policy.shell.approximate_bash_words import alternatives
from coderelay.policy.shell.network_detection import started_program, talks_to_others
from coderelay.policy.shell.possible_commands import MOST_WORDS, Command, PossibleCommand, PossibleText, walk

_SCHEME = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?/+", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:[\w.-]+@)?[\w.-]+[:/]")
_LONGEST_OPTION = 5
_LONGEST_WORD = 1000


def called_hosts(command: str) -> set[str]:
    """The hosts that a command names anywhere, in lower case."""
    found = {*hosts_named(command)}
    values: list[str] = []
    calls = False
    for record in walk(command):
        match record:
            case Command(words) | PossibleCommand(words, wrapped=True):
                found.update(host for word in words for host in hosts_named(word))
                calls = calls or talks_to_others(words)
                found.update(_hosts_of(words))
            case PossibleText(text):  # a variable such as a proxy, which counts only for a program that calls others
                values.append(text)
            case _:
                pass
    return found | {host for text in values for host in _hosts_in(text)} if calls else found


def _hosts_of(words: tuple[str, ...]) -> Iterator[str]:
    """The hosts among the words of a network program. With a subcommand that calls nobody, only what has the form of
    an address counts, as in `git remote add x git@host:path`."""
    program, rest = started_program(words)
    if program.network is None and not program.remote_operand and not program.names_hosts:
        return
    every = program.names_hosts or bool(program.remote_operand) or talks_to_others(words)
    for word in rest:
        if every or _ADDRESS.match(word):
            yield from _hosts_in(word)


def _hosts_in(word: str) -> Iterator[str]:
    """Every host that a word may stand for: all of it, or what is joined to an option, without user, port, path."""
    for each in alternatives(word) if len(word) <= _LONGEST_WORD else [word]:
        joined = range(2, 2 + _LONGEST_OPTION) if re.match(r"-[A-Za-z]", each) else ()
        for part in (each, each.partition("=")[2], *(each[at:] for at in joined)):
            for address in {part, _SCHEME.sub("", part, count=1)}:  # `host:/path` looks as if it had a scheme
                for piece in re.split(r"[:,]", re.split(r"[/?#\s]", address, maxsplit=1)[0])[:MOST_WORDS]:
                    host = re.sub(r"[{}]", "", unquote(piece.rpartition("@")[2])).rstrip(".").lower()
                    if host:
                        yield host
