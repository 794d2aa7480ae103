"""The ways to confine commands, and what is needed to start one in a sandbox."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from coderelay.workspace.processes.processes import Processes

SandboxBackend = Literal["bubblewrap", "sandlock", "none"]
"""The way commands are confined, the best one first."""


class Confinement(Struct, frozen=True):
    """What is needed to start a command in the sandbox. `environment` holds the variables that the command gets,
    `temporary` is the real path of its temporary files."""

    processes: Processes
    environment: Mapping[str, str]
    temporary: str
