"""A command, begun in the sandbox of a rung."""

from collections.abc import Callable

from coderelay.workspace.sandbox.bubblewrap import PROGRAM, bubblewrap, bubblewrap_program
from coderelay.workspace.sandbox.confinement import Rung
from coderelay.workspace.sandbox.profile import Profile


def wrapped(rung: Rung, argv: list[str], profile: Profile, blank: Callable[[str], str]) -> list[str]:
    match rung:
        case "bubblewrap":
            return [*bubblewrap(bubblewrap_program() or PROGRAM, profile, blank), *argv]
        case "sandlock":
            from coderelay.workspace.sandbox.landlock import landlock  # most machines have namespaces

            return [*landlock(profile), *argv]
        case "none":
            raise ValueError("there is no sandbox to run it in")
