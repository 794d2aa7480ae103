"""What tools act on: the files beneath one folder, and processes started in it."""

from collections.abc import Mapping

from coderelay.workspace.files import Files
from coderelay.workspace.processes import Processes


class Workspace:
    def __init__(self, root: str, processes: Processes, environment: Mapping[str, str]) -> None:
        self.files = Files(root)
        self.processes = processes
        self.environment = environment

    @property
    def root(self) -> str:
        return self.files.root
