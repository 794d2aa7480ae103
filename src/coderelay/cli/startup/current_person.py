"""The person at this machine."""

import getpass

from coderelay.protocol.asks import By


def current_person(via: str = "cli") -> By:
    return By(who=getpass.getuser(), via=via)
