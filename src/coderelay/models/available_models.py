"""Lists the models that can be used here, without asking anyone but servers on this machine, and those that the
server of one model says it has."""

import asyncio
import os
import re
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from coderelay.models.local.installed_weights_registry import WeightsFolder
from coderelay.models.local.running_servers import find_servers
from coderelay.models.model_registry import ModelRegistry
from coderelay.protocol.errors import CannotRun, CoderError, ModelFailed
from coderelay.protocol.query_results import ModelShown, ServedModels
from coderelay.protocol.translatable import say

_LIST_SECONDS = 3.0
_LIST_BYTES = 4 * 1024 * 1024
_MOST = 500
_NO_CHAT = re.compile(
    "embed|rerank|minilm|whisper|moderation|transcribe|dall-e|tts|-image|realtime|-audio|sora", re.IGNORECASE
)
_SILENCE_SECONDS = 0.3  # how long to wait for an open port that sends nothing


async def offered_models(providers: ModelRegistry, env: Mapping[str, str], home: str) -> list[ModelShown]:
    """The models of providers with a key, then of servers on this machine, then of installed weights; those of each
    provider in its own order."""
    keyed = [(model, key) for name in providers.names() for model, key in providers.offers(name)]
    servers = await find_servers(providers, env, silence_seconds=_SILENCE_SECONDS)
    served = [(f"{each.provider}:{name}", each.host) for each in servers for name in each.chat_models]
    weights = [(f"local:{name}", "installed model") for name in _weights(home)]
    return [_shown(providers, *each) for each in dict([*keyed, *served, *weights]).items()]


async def served_models(providers: ModelRegistry, model: str) -> ServedModels:
    """The models that the server of this model lists now. A server may have fewer or more models than the provider;
    models that are certainly not chat models are left out."""
    if not providers.is_served(model):
        return ServedModels()
    provider, host = model.partition(":")[0], providers.address(model)
    try:
        _, api_client = providers.api_client_of(model)
        async with asyncio.timeout(_LIST_SECONDS):
            listed = msgspec.json.decode(await api_client.fetch("/models", _LIST_BYTES), type=_ModelList)
    except TimeoutError:
        return ServedModels(problem=say("{host} did not answer in time", host=host))
    except (CannotRun, ModelFailed) as failed:
        return ServedModels(problem=failed.message)
    except (msgspec.DecodeError, RecursionError):
        return ServedModels(problem=say("{host} does not list its models", host=host))
    names = sorted({each.id.removeprefix("models/") for each in listed.data if _is_name(each.id)})
    chatting = [each for each in names if not _NO_CHAT.search(each)][:_MOST]
    return ServedModels(tuple(_shown(providers, f"{provider}:{each}", host) for each in chatting))


def _is_name(name: str) -> bool:
    return 0 < len(name) <= 200 and name.isprintable() and not name.isspace()


class _Listed(Struct, frozen=True):
    id: str


class _ModelList(Struct, frozen=True):
    """What OpenAI's and Anthropic's lists have in common."""

    data: list[_Listed]


def _shown(providers: ModelRegistry, model: str, source: str) -> ModelShown:
    card = providers.card(model)
    price = card.price
    return ModelShown(model, source, card.context, price and price.input, price and price.output)


def _weights(home: str) -> list[str]:
    """The names of installed weights. A list that cannot be read is reported by `coder doctor`."""
    try:
        return [*WeightsFolder(os.path.join(home, "models")).all()]
    except (CoderError, OSError):
        return []
