"""Finds model servers on this machine by asking for their list of models, which costs nothing."""

import asyncio
import re
from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import Struct

from coderelay.http.model_server_client import HttpClient
from coderelay.http.server_url import parse_address
from coderelay.models.model_registry import ModelRegistry
from coderelay.protocol.errors import CannotRun, ModelFailed

PROVIDERS = ("ollama", "lmstudio", "llamacpp", "vllm")
_WHOLE = 3  # a whole answer may take so many times the allowed silence
_LIST_BYTES = 1024 * 1024
_NO_CHAT = re.compile("embed|rerank|minilm|whisper", re.IGNORECASE)


class RunningServer(Struct, frozen=True):
    provider: str
    host: str
    names: tuple[str, ...]

    @property
    def chat_models(self) -> tuple[str, ...]:
        """The models that can chat."""
        return tuple(each for each in self.names if not _NO_CHAT.search(each))

    @property
    def model(self) -> str | None:
        """The first model that can chat, as `provider:name`."""
        return next((f"{self.provider}:{name}" for name in self.chat_models), None)


class _Listed(Struct, frozen=True):
    id: str
    object: Literal["model"]


class _OpenAIList(Struct, frozen=True):
    object: Literal["list"]
    data: list[_Listed]


class _Tagged(Struct, frozen=True):
    name: str


class _OllamaTags(Struct, frozen=True):
    models: list[_Tagged]


async def find_servers(
    providers: ModelRegistry, env: Mapping[str, str], *, silence_seconds: float
) -> list[RunningServer]:
    """The servers that answer, in the order of PROVIDERS. All are asked at once."""

    async def ask(provider: str) -> RunningServer | None:
        try:
            url = providers.address(f"{provider}:any")
            async with asyncio.timeout(_WHOLE * silence_seconds):
                return await _ask(provider, url, env, silence_seconds)
        except (CannotRun, ModelFailed, TimeoutError):
            return None

    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(ask(provider)) for provider in PROVIDERS]
    return [server for each in asked if (server := each.result()) is not None]


async def _ask(provider: str, url: str, env: Mapping[str, str], seconds: float) -> RunningServer | None:
    root, path = (url.removesuffix("/v1"), "/api/tags") if provider == "ollama" else (url, "/models")
    address = parse_address(root)
    client = HttpClient(root, env=env, connect_seconds=seconds, idle_seconds=seconds)
    try:
        async with client.get(path, {"accept": "application/json", "user-agent": "coderelay"}) as response:
            names = _names(provider, await response.read(_LIST_BYTES)) if response.status == 200 else ()
    finally:
        await client.close()
    return RunningServer(provider, address.netloc, names) if names and address is not None else None


def _names(provider: str, body: bytes) -> tuple[str, ...]:
    """The names in a list of models; none if it is not such a list: many programs listen on these ports, and some
    answer anything."""
    try:
        if provider == "ollama":
            names = [each.name for each in msgspec.json.decode(body, type=_OllamaTags).models]
        else:
            names = [each.id for each in msgspec.json.decode(body, type=_OpenAIList).data]
    except (msgspec.DecodeError, RecursionError):
        return ()
    return tuple(name for name in names if 0 < len(name) <= 200 and name.isprintable() and not name.isspace())
