"""What a command wants beyond the sandbox, read from its own text: that text is what a person is shown.

`CODER_NETWORK=1 ` and `CODER_SANDBOX=0 ` at its very beginning say so; and programs that are there to talk to
other machines need no word.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from coderelay.protocol.calls import Right

_WORDS: dict[str, Right] = {"CODER_NETWORK=1": "network", "CODER_SANDBOX=0": "outside"}
_ASKED_FOR = "(?:(?:CODER_NETWORK=1|CODER_SANDBOX=0) )+"


def rights_of(command: str) -> tuple[Right, ...]:
    """Sorted."""
    from coderelay.policy.shell.network_programs import reaches_others  # with the first command: most turns have none

    asked = re.match(_ASKED_FOR, command)
    rights: set[Right] = {_WORDS[word] for word in asked.group().split()} if asked else set()
    if "network" not in rights and reaches_others(command):
        rights.add("network")
    return tuple(sorted(rights))


def without_rights(command: str) -> str:
    """The command itself, without the words that ask for more."""
    asked = re.match(_ASKED_FOR, command)
    return command[asked.end() :] if asked else command


class DiskFacts(Struct, frozen=True):
    """`targets` are the paths to which links lead that the command names. `programs` leads from a word of it, or of a
    rule, to the paths that the word stands for, link by link. `secret` is a file of secrets whose content would be
    shown; with `too_many`, there were too many files to look at all of their names."""

    targets: tuple[str, ...] = ()
    programs: Mapping[str, tuple[str, ...]] = {}
    secret: str = ""
    too_many: bool = False


NO_FACTS = DiskFacts()
