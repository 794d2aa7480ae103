"""The ways to confine commands."""

from collections.abc import Callable
from typing import Literal

from coderelay.workspace.sandbox.bubblewrap import PROGRAM, bubblewrap, bubblewrap_program
from coderelay.workspace.sandbox.sandbox_profile import Profile

SandboxBackend = Literal["bubblewrap", "sandlock", "none"]
"""The way commands are confined, the best one first."""
BACKENDS: tuple[SandboxBackend, ...] = ("bubblewrap", "sandlock")


def wrapped(backend: SandboxBackend, argv: list[str], profile: Profile, blank: Callable[[str], str]) -> list[str]:
    """Return `argv` with the prefix that runs it in the sandbox."""
    match backend:
        case "bubblewrap":
            return [*bubblewrap(bubblewrap_program() or PROGRAM, profile, blank), *argv]
        case "sandlock":
            from coderelay.workspace.sandbox.sandlock_policy import (
                sandlock_command,  # imported late: most machines have namespaces
            )

            return [*sandlock_command(profile), *argv]
        case "none":
            raise ValueError("there is no sandbox to run it in")
