"""The person at this machine."""

import getpass
import os

from coderelay.protocol.asks import By


def current_person(via: str = "cli") -> By:
    """`CODER_PERSON` tells people apart who have the same user name, on machines that share a log."""
    return By(who=os.environ.get("CODER_PERSON", "").strip() or getpass.getuser(), via=via)
