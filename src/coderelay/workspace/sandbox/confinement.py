"""Where a command runs."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from coderelay.workspace.processes.processes import Processes

Rung = Literal["bubblewrap", "sandlock", "none"]
"""How commands are confined, the best way first."""


class Place(Struct, frozen=True):
    """`environment` is what the command is told there, `temporary` where its temporary files really are."""

    processes: Processes
    environment: Mapping[str, str]
    temporary: str
