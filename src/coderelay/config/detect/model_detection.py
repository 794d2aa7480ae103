"""Detect the model to use from what the person has already, in a fixed order.

1. a chosen model       by --model, CODER_MODEL or a config file
2. an API key           in the environment, or in another program's settings
3. a local server       that lists a chat model
4. weights              installed by `coder model`
5. the guide            which needs no model

The first two need no search of PATH and no connection; most starts end there.
"""

from collections.abc import Mapping

from msgspec import Struct

from coderelay.config.detect.other_agents_and_their_settings import ImportedVariables, import_variables
from coderelay.config.loaded_config import Config
from coderelay.models.providers import KNOWN, Provider, ProviderSettings
from coderelay.protocol.translatable import say

GUIDE = "guide"
SILENCE_SECONDS = 0.15  # how long to wait for an open port that does not answer
_OWN = Provider("openai-chat", "")  # the defaults of a provider that only the person's settings name


class DetectedModel(Struct, frozen=True):
    """`source` says in a few words where `model` comes from; `imported` must be added to the environment of
    everything that runs; `agents` are installed agent programs that could not be used."""

    model: str
    source: str
    imported: ImportedVariables
    agents: tuple[str, ...] = ()

    @property
    def agent(self) -> str:
        return GUIDE if self.model == GUIDE else "native"

    @property
    def line(self) -> str:
        """A message for people, without any secret."""
        if self.model != GUIDE or self.source:
            return say("model: {model} ({rest}); change with --model or /model", model=self.model, rest=self.source)
        seen = (
            say(" {agents}: installed, but not supported by this version.", agents=", ".join(self.agents))
            if self.agents
            else ""
        )
        return say(
            "No model found. A built-in guide answers simple requests.{rest} `coder doctor` shows "
            "how to connect a model.",
            rest=seen,
        )


async def detect(
    config: Config,
    env: Mapping[str, str],
    *,
    flag: str | None = None,
    settings: Mapping[str, ProviderSettings] | None = None,
    silence_seconds: float = SILENCE_SECONDS,
) -> DetectedModel:
    """`flag` is the value of --model, `settings` are the person's own providers."""
    imported = import_variables(env)
    if said := _configured_model(config, env, flag):
        return DetectedModel(*said, imported)
    whole = imported.added_to(env)
    if keyed := _keyed(whole, imported, settings or {}):
        return DetectedModel(*keyed, imported)
    from coderelay.config.detect.local_model import model_here  # most starts do not need it

    if here := await model_here(config.home, whole, settings or {}, silence_seconds):
        return DetectedModel(*here, imported)
    from coderelay.config.detect.other_agents_and_their_settings import agents_on_path

    return DetectedModel(GUIDE, "", imported, agents_on_path(env))


def _configured_model(config: Config, env: Mapping[str, str], flag: str | None) -> tuple[str, str] | None:
    if flag:
        return flag, "--model"
    if model := env.get("CODER_MODEL", "").strip():
        return model, "CODER_MODEL"
    return (config.model, "config") if config.model else None


def _keyed(
    env: Mapping[str, str], imported: ImportedVariables, settings: Mapping[str, ProviderSettings]
) -> tuple[str, str] | None:
    """A model of the first provider that has a key; the person's own providers come first."""
    for name in dict.fromkeys([*settings, *KNOWN]):
        provider, own = KNOWN.get(name, _OWN), settings.get(name, ProviderSettings())
        key = _first_set(env, (own.api_key_env,) if own.api_key_env else provider.keys)
        variable = _first_set(env, provider.names)
        model = env[variable].strip() if variable else next(iter(own.models), provider.example)
        if key and model:
            return f"{name}:{model}", _source(key, _first_set(env, provider.addresses), imported)
    return None


def _first_set(env: Mapping[str, str], variables: tuple[str, ...]) -> str:
    return next((each for each in variables if env.get(each, "").strip()), "")


def _source(key: str, address: str, imported: ImportedVariables) -> str:
    """Where the key comes from. A person who has set a key does not expect it to be sent to an address from another
    program's file, so the text names that file."""
    if key in imported.files:
        return say("{variable} in {file}", variable=key, file=imported.files[key])
    return (
        say("{variable}; address from {file}", variable=key, file=imported.files[address])
        if address in imported.files
        else key
    )
