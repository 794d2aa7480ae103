"""Models with downloaded weights on this machine: the provider `local`."""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from importlib.util import find_spec

from coderelay.models.json_schema_chat.model import SchemaChat
from coderelay.models.local.installed_weights_registry import WeightsFolder, models_folder
from coderelay.models.local.weights_server_process import LocalServer
from coderelay.models.model import Piece, Request
from coderelay.models.model_card import Card
from coderelay.protocol.errors import CannotRun
from coderelay.protocol.install_command import install_command
from coderelay.protocol.translatable import say


class LocalModels:
    """Local models by name. Their servers are started by the first request and kept for the next one."""

    card = Card(context=8192, output=1024, calls="schema")

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._folder = WeightsFolder(models_folder(env))
        self._servers: dict[str, LocalServer] = {}

    def open(self, model: str) -> "LocalChat":
        """Raises CannotRun, saying what to do."""
        path = self._path(model.partition(":")[2])
        if find_spec("xllamacpp") is None:
            how = say("Install it: {command}", command=install_command("xllamacpp"))
            raise CannotRun(f"{model} needs xllamacpp to run", how)
        server = self._servers.setdefault(path, LocalServer(path, self.card.context, self._env))
        return LocalChat(model, self.card, server)

    async def close(self) -> None:
        for server in self._servers.values():
            await server.close()

    def _path(self, name: str) -> str:
        known = self._folder.all()
        if name not in known:
            there = say("available: {names}", names=", ".join(known)) if known else "none installed"
            raise CannotRun(
                say("no local model {name}; {rest}", name=repr(name), rest=there),
                "Get one with: coder model install",
            )
        path = self._folder.path_of(known[name])
        if not os.path.exists(path):
            raise CannotRun(f"the file of local:{name} is gone: {path}", f"Forget it with: coder model remove {name}")
        return path


class LocalChat:
    def __init__(self, model_id: str, card: Card, server: LocalServer) -> None:
        self.id = model_id
        self.card = card
        self._server = server

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        chat = SchemaChat(self.id, self.card, await self._server.api_client())
        async with aclosing(chat.stream(request)) as pieces:
            async for piece in pieces:
                yield piece
