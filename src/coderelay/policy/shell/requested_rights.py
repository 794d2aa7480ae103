"""The rights that a command wants beyond the sandbox (network, or to run outside), and the disk facts about it.

The rights are read from the command's own text, because that text is what a person is shown: `CODER_NETWORK=1 ` and
`CODER_SANDBOX=0 ` at its very beginning ask for them. Programs whose purpose is to talk to other machines request the
network without such a prefix.
"""

import re

from coderelay.protocol.calls import Right

_WORDS: dict[str, Right] = {"CODER_NETWORK=1": "network", "CODER_SANDBOX=0": "outside"}
_ASKED_FOR = "(?:(?:CODER_NETWORK=1|CODER_SANDBOX=0) )+"


def rights_of(command: str) -> tuple[Right, ...]:
    """The rights that a command asks for, sorted."""
    from coderelay.policy.shell.network_detection import needs_network  # imported late: most turns have no command

    asked = re.match(_ASKED_FOR, command)
    rights: set[Right] = {_WORDS[word] for word in asked.group().split()} if asked else set()
    if "network" not in rights and needs_network(command):
        rights.add("network")
    return tuple(sorted(rights))


def without_rights(command: str) -> str:
    """The command itself, without the words at its beginning that ask for rights."""
    asked = re.match(_ASKED_FOR, command)
    return command[asked.end() :] if asked else command
