"""What is needed to start a command, in a sandbox or without one."""

from collections.abc import Mapping

from msgspec import Struct

from coderelay.workspace.processes.command_runner import Processes


class LaunchContext(Struct, frozen=True):
    """`environment` holds the variables of the command, `temporary` is the real path of its temporary files."""

    processes: Processes
    environment: Mapping[str, str]
    temporary: str
