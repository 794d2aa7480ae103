"""Lists the models that can be used here, without asking anyone but servers on this machine."""

import os
from collections.abc import Mapping

from coderelay.models.local.running_servers import find_servers
from coderelay.models.local.weights import WeightsFolder
from coderelay.models.open_model import Providers
from coderelay.protocol.errors import CoderError
from coderelay.protocol.session_info import ModelShown

_SILENCE_SECONDS = 0.3  # how long to wait for an open port that sends nothing


async def offered_models(providers: Providers, env: Mapping[str, str], home: str) -> list[ModelShown]:
    """The models of providers with a key, then of servers on this machine, then of installed weights; those of each
    provider in its own order."""
    keyed = [(model, key) for name in providers.names() for model, key in providers.offers(name)]
    servers = await find_servers(providers, env, silence_seconds=_SILENCE_SECONDS)
    served = [(f"{each.provider}:{name}", each.host) for each in servers for name in each.talking]
    weights = [(f"local:{name}", "weights on this machine") for name in _weights(home)]
    return [_shown(providers, *each) for each in dict([*keyed, *served, *weights]).items()]


def _shown(providers: Providers, model: str, source: str) -> ModelShown:
    card = providers.card(model)
    price = card.price
    return ModelShown(model, source, card.context, price and price.input, price and price.output)


def _weights(home: str) -> list[str]:
    """The names of installed weights. A list that cannot be read is reported by `coder doctor`."""
    try:
        return [*WeightsFolder(os.path.join(home, "models")).all()]
    except (CoderError, OSError):
        return []
