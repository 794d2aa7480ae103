"""Opens the workspaces of turns, and the sandboxes in which their commands run."""

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from coderelay.agents.turn import Turn
from coderelay.host.folder_config import FolderConfigs
from coderelay.host.resources_lent_by_clients import ResourcesLentByClients
from coderelay.workspace.processes.command_runner import Processes
from coderelay.workspace.processes.environment import command_environment
from coderelay.workspace.processes.session_command_runner import CommandContext
from coderelay.workspace.workspace import Workspace

if TYPE_CHECKING:
    from coderelay.workspace.sandbox.session_sandbox import Sandbox, Sandboxes

_ALWAYS_IN_SANDBOXES = {".lock", "rung.json"}


class Workspaces:
    def __init__(
        self,
        home: str,
        env: Mapping[str, str],
        folders: FolderConfigs,
        processes: Processes,
        lending: ResourcesLentByClients,
    ) -> None:
        self._home = home
        self._env = env
        self._folders = folders
        self._processes = processes
        self._lending = lending
        self._sandboxes: Sandboxes | None = None

    def open(self, turn: Turn) -> Workspace:
        """The workspace of a turn. The configuration is read whenever a command begins or a file is read, so changes
        take effect at once."""

        def wanted() -> CommandContext:
            written = self._folders.of(turn.settings.cwd).settings.sandbox
            return CommandContext(confined=written.confines(turn.settings.mode), network=written.network)

        def hidden(paths: Iterable[str]) -> set[str]:
            named = (turn.settings.cwd, *turn.settings.folders)
            folders = tuple(dict.fromkeys([*named, *map(os.path.realpath, named)]))
            return self._folders.of(turn.settings.cwd).hidden(paths, turn.settings.mode, folders)

        return Workspace(
            turn.settings.cwd,
            self._processes,
            command_environment(self._env),
            folders=turn.settings.folders,
            editor=self._lending.of(turn.settings.parent or turn.session).editor,
            sandbox=lambda folders: self._sandbox(turn.settings.parent or turn.session, folders),
            wanted=wanted,
            variables=turn.state.environment.variables if turn.state.environment is not None else {},
            hidden=hidden,
        )

    def recover(self) -> list[str]:
        """Mend workspaces in which a process was killed while its commands ran; returns what was mended."""
        places = os.path.join(self._home, "sandboxes")
        if not os.path.isdir(places) or not {*os.listdir(places)} - _ALWAYS_IN_SANDBOXES:
            return []
        from coderelay.workspace.sandbox.sandbox_state_folder import (
            recover,  # late: there is hardly ever anything to mend
        )

        return recover(self._home)

    def release(self, session: str) -> None:
        """Give up what is kept for a session between its commands. The next command gets it anew."""
        if self._sandboxes is not None:
            self._sandboxes.release(session)

    async def close(self) -> None:
        if self._sandboxes is not None:
            await self._sandboxes.close()

    def _sandbox(self, session: str, folders: tuple[str, ...]) -> "Sandbox":
        if self._sandboxes is None:
            from coderelay.workspace.sandbox.session_sandbox import Sandboxes  # imported late, with the first command

            self._sandboxes = Sandboxes(self._home, command_environment(self._env))
        return self._sandboxes.open(session, folders)
