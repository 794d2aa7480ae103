"""Find a model on this machine: a running server or installed weights. Loaded only if nothing better was found."""

import os
from collections.abc import Mapping

from coderelay.models.local.installed_weights_registry import WeightsFolder
from coderelay.models.local.running_servers import find_servers
from coderelay.models.model_registry import ModelRegistry
from coderelay.models.providers import ProviderSettings
from coderelay.protocol.errors import CoderError


async def model_here(
    home: str, env: Mapping[str, str], settings: Mapping[str, ProviderSettings], silence_seconds: float
) -> tuple[str, str] | None:
    """The name of the model and where it was found, or None."""
    for server in await find_servers(ModelRegistry(env, settings), env, silence_seconds=silence_seconds):
        if server.model is not None:
            return server.model, f"{server.provider} at {server.host}"
    return next(((f"local:{name}", "installed model") for name in _weights(home)), None)


def _weights(home: str) -> list[str]:
    """The names of installed weights. A list that cannot be read counts as empty; `coder doctor` reports it."""
    try:
        return [*WeightsFolder(os.path.join(home, "models")).all()]
    except (CoderError, OSError):
        return []
