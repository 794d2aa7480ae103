"""Wires what this machine offers besides sessions: models, files, folders, installed agents, and its identity."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from coderelay.config.detect.other_agents_and_their_settings import agents_on_path
from coderelay.config.loaded_config import Config
from coderelay.host.folder_config import FolderConfigs
from coderelay.host.machine_interface import Servers
from coderelay.http.server_url import without_user
from coderelay.models.model_registry import ModelRegistry
from coderelay.protocol.ids import MachineIdentity
from coderelay.protocol.query_results import (
    DefaultsShown,
    FileShown,
    FilesShown,
    FoldersShown,
    ModelShown,
    ServedModels,
)
from coderelay.session.state import State


class ThisMachine:
    """The Machine of a host. What it imports late is loaded only when a person asks."""

    def __init__(
        self,
        config: Config,
        env: Mapping[str, str],
        folders: FolderConfigs,
        providers: Callable[[str], ModelRegistry],
        servers: Callable[[str, State], Servers],
    ) -> None:
        self.config = config
        self._env = env
        self._folders = folders
        self._providers = providers
        self._servers = servers
        self._identity: MachineIdentity | None = None

    @property
    def identity(self) -> MachineIdentity | None:
        if self._identity is None and self.config.database_url:
            from coderelay.config.machine_identity import machine_identity  # only a shared log needs it

            self._identity = machine_identity(self.config.home)
        return self._identity

    @property
    def log_name(self) -> str:
        url = self.config.database_url
        return self.config.database if url is None else without_user(url).partition("?")[0]

    async def offered_models(self, cwd: str) -> list[ModelShown]:
        from coderelay.models.available_models import offered_models

        return await offered_models(self._providers(cwd), self._env, self.config.home)

    async def served_models(self, cwd: str, model: str) -> ServedModels:
        from coderelay.models.available_models import served_models

        return await served_models(self._providers(cwd), model)

    async def defaults(self, cwd: str) -> DefaultsShown:
        from coderelay.config.detect.model_detection import detect

        config = self._folders.of(cwd).config
        found = await detect(config, self._env, settings=config.settings.providers)
        return DefaultsShown(found.agent, found.model, config.settings.mode, found.source)

    async def files_in(self, folder: str) -> FilesShown:
        from coderelay.tools.search.mentionable_files import list_folder

        return await list_folder(folder)

    async def folders_in(self, folder: str, roots: Sequence[str], *, hidden: bool) -> FoldersShown:
        from coderelay.workspace.files.folder_picker_listing import list_folders

        return await asyncio.to_thread(list_folders, folder, roots, hidden=hidden)

    async def file_text(self, folders: Sequence[str], path: str, most_bytes: int) -> FileShown:
        """The first `most_bytes` of a file beneath one of the folders. Raises ToolFailed if it cannot be read."""
        from coderelay.tools.editing.text_encoding import text_file
        from coderelay.workspace.files.confined_files import ConfinedFiles

        disk = ConfinedFiles(folders)
        content = await asyncio.to_thread(disk.read, path, most_bytes)
        whole = content.size <= len(content.data)
        file = text_file(content.data, whole=whole)
        name = disk.relative(disk.locate(path))
        if file is None:
            return FileShown(name, size=content.size, binary=True, whole=whole)
        return FileShown(name, file.shown, content.size, whole=whole)

    def servers(self, cwd: str, state: State) -> Servers:
        return self._servers(cwd, state)

    def programs(self) -> Sequence[str]:
        return agents_on_path(self._env)
