"""Opens models by `provider:name`, with the keys and addresses that the providers' own tools use."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from coderelay.http.server_url import parse_address, without_user
from coderelay.models.api_client import ApiClient
from coderelay.models.catalog import card_of, cheap_of, full_name, models_of
from coderelay.models.model import Model
from coderelay.models.model_card import Card
from coderelay.models.providers import KNOWN, Provider, ProviderSettings, WireForm
from coderelay.protocol.errors import CannotRun, ModelFailed
from coderelay.protocol.translatable import say

if TYPE_CHECKING:
    from coderelay.models.local.model import LocalModels


class ModelRegistry:
    """`env` has the keys and addresses, and the proxies and certificates for every connection; `settings` are the
    person's own, by the name of the provider."""

    def __init__(self, env: Mapping[str, str], settings: Mapping[str, ProviderSettings] | None = None) -> None:
        self._env = env
        self._settings = settings or {}
        self._api_clients: dict[str, ApiClient] = {}
        self._local: LocalModels | None = None

    def open(self, model: str) -> Model:
        """A model for one turn; its connections are shared and outlive it. Raises CannotRun, saying what to do."""
        if self._is_local(model):
            return self._local_models().open(model)
        kind, api_client = self.api_client_of(model)
        card = self.card(model)
        return _form(kind, card)(model, card, api_client)

    def api_client_of(self, model: str) -> tuple[WireForm, ApiClient]:
        """Where a model that does not run from weights is served, and the wire format there. Raises CannotRun."""
        name, provider = self._find(model)
        kind, base_url = self._kind_and_address(name, provider)
        try:
            return kind, self._api_client(name, provider, kind, base_url, model)
        except ModelFailed as failed:  # a proxy that cannot be used
            raise CannotRun(failed.message, failed.hint) from failed

    def why_not(self, model: str) -> str | None:
        """Why this model cannot be used here, or None."""
        try:
            self.open(model)
        except CannotRun as refused:
            return str(refused)
        return None

    def card(self, model: str) -> Card:
        if self._is_local(model):
            return self._local_models().card
        name, _, rest = model.partition(":")
        settings = self._settings.get(name)
        own = settings.models.get(rest) if settings is not None and isinstance(settings.models, dict) else None
        return own or card_of(model)

    def cheap(self, model: str) -> str:
        """The cheap model, only at the provider's own address: another server may not have what the provider has."""
        if self._is_local(model):
            return model
        name, provider = self._find(model)
        at_home = self._kind_and_address(name, provider)[1] == provider.base_url
        return cheap_of(model) if at_home else model

    def address(self, model: str) -> str:
        """Where requests for this model go, without any secret in it."""
        if self._is_local(model):
            return "this machine"
        return without_user(self._kind_and_address(*self._find(model))[1])

    def key_source(self, model: str) -> str:
        """The environment variable that has the key for this model; `none` if it needs no key."""
        if self._is_local(model):
            return "none"
        try:
            return self._key(*self._find(model), model)[1] or "none"
        except CannotRun:
            return "none"

    def offers(self, name: str) -> list[tuple[str, str]]:
        """The usable models of a provider, as far as they are known without asking it, and the variable that has the
        key. Another server than the provider's own may not have what the provider has."""
        known, settings = KNOWN.get(name, Provider("openai-chat", "")), self._settings.get(name, ProviderSettings())
        try:
            at_home = self._kind_and_address(name, known)[1] == known.base_url
            _, variable = self._key(name, known, name)
        except CannotRun:
            return []
        named = [value for each in known.names if (value := self._value(each))]
        offered = [each for each, _ in models_of(name)] if at_home and variable else []
        models = dict.fromkeys(f"{name}:{each}" for each in (*settings.models, *named[:1], *offered))
        return [(model, variable) for model in models]

    def names(self) -> list[str]:
        return [*KNOWN, *(name for name in self._settings if name not in KNOWN)]

    async def close(self) -> None:
        for api_client in self._api_clients.values():
            await api_client.close()
        if self._local is not None:
            await self._local.close()

    def is_served(self, model: str) -> bool:
        """Whether a server answers for this model, and not the guide or weights on this machine."""
        return ":" in model and not self._is_local(model)

    def _is_local(self, model: str) -> bool:
        """Whether the model runs here from weights, which is not so if the person named a server of their own
        `local`."""
        return model.startswith("local:") and "local" not in self._settings

    def _local_models(self) -> "LocalModels":
        if self._local is None:
            from coderelay.models.local.model import LocalModels  # only where weights are run

            self._local = LocalModels(self._env)
        return self._local

    def _find(self, model: str) -> tuple[str, Provider]:
        name, colon, rest = model.partition(":")
        if not colon or not name.strip() or not rest.strip():
            raise CannotRun(
                say(
                    "model {model} must be provider:name, like {example}",
                    model=repr(model),
                    example=self._well_written(model),
                )
            )
        settings = self._settings.get(name)
        known = KNOWN.get(name)
        if known is None and (settings is None or not settings.base_url):
            raise CannotRun(
                say(
                    "unknown provider {name}; choose one of {names}",
                    name=repr(name),
                    names=", ".join(self.names()),
                ),
                say("Set providers.{name}.base_url in ~/.coder/config.json to add it.", name=name),
            )
        return name, known or Provider("openai-chat", "")

    def _well_written(self, model: str) -> str:
        """The `provider:name` that the person may have meant by a model name without a provider."""
        maker, _, name = model.partition("/")
        if maker in self.names() and name.strip():
            return f"{maker}:{name}"
        if (full := full_name(model)) != model:
            return full
        _, colon, rest = model.partition(":")
        return f"openai:{rest.strip() or (not colon and model) or KNOWN['openai'].example}"

    def _kind_and_address(self, name: str, provider: Provider) -> tuple[WireForm, str]:
        settings = self._settings.get(name, ProviderSettings())
        variable = next((each for each in provider.addresses if self._value(each)), "")
        where = settings.base_url or (self._value(variable) and _as_address(name, self._value(variable)))
        base_url = where or provider.base_url
        if parse_address(base_url) is None:
            source = f"providers.{name}.base_url" if settings.base_url else variable
            raise CannotRun(
                say(
                    "{source} is not a usable address: {url}; write https://host/v1",
                    source=source,
                    url=repr(without_user(base_url)),
                )
            )
        own = provider.own_kind if base_url.rstrip("/") == provider.base_url else None
        return settings.kind or own or provider.kind, base_url

    def _api_client(self, name: str, provider: Provider, kind: WireForm, base_url: str, model: str) -> ApiClient:
        key, variable = self._key(name, provider, model)
        known = f"{kind} {base_url} {variable}"
        if known not in self._api_clients:
            headers = _headers(kind, key, variable)
            self._api_clients[known] = ApiClient(base_url, headers, secret=key, variable=variable, env=self._env)
        return self._api_clients[known]

    def _key(self, name: str, provider: Provider, model: str) -> tuple[str, str]:
        settings = self._settings.get(name)
        named = settings.api_key_env if settings is not None else None
        variables = (named,) if named else provider.keys
        variable = next((each for each in variables if self._value(each)), "")
        if variables and not variable:
            addresses = provider.addresses
            elsewhere = say("and {address} for another server; ", address=addresses[0]) if addresses else ""
            raise CannotRun(
                say(
                    "no API key for {model}; set {variable} ({rest}any value works if no key is needed)",
                    model=model,
                    variable=variables[-1],
                    rest=elsewhere,
                )
            )
        key = self._value(variable) if variable else ""
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise CannotRun(
                say(
                    "{variable} holds a character that no key has (a line break, a space, a curly quote?); "
                    "copy the key again",
                    variable=variable,
                )
            )
        return key, variable

    def _value(self, variable: str) -> str:
        return self._env.get(variable, "").strip()


def _form(kind: WireForm, card: Card) -> Callable[[str, Card, ApiClient], Model]:
    """The client class for a wire format. Only the one that is used is imported."""
    match kind:
        case "anthropic":
            from coderelay.models.anthropic.model import Anthropic

            return Anthropic
        case "openai-responses":
            from coderelay.models.openai_responses.model import OpenAIResponses

            return OpenAIResponses
        case "openai-chat" if card.calls == "schema":
            from coderelay.models.json_schema_chat.model import SchemaChat

            return SchemaChat
        case "openai-chat":
            from coderelay.models.openai_chat.model import OpenAIChat

            return OpenAIChat


def _headers(kind: WireForm, key: str, variable: str) -> dict[str, str]:
    if kind == "anthropic":
        bearer = variable == "ANTHROPIC_AUTH_TOKEN"
        sent = {"authorization": f"Bearer {key}"} if bearer else {"x-api-key": key}
        return {"anthropic-version": "2023-06-01", **(sent if key else {})}
    return {"authorization": f"Bearer {key}"} if key else {}


def _as_address(name: str, value: str) -> str:
    """Convert an address variable of another program: Anthropic's address has no /v1, Ollama's no scheme."""
    match name:
        case "anthropic":
            return value if value.rstrip("/").endswith("/v1") else f"{value.rstrip('/')}/v1"
        case "ollama":
            return _ollama_address(value)
        case _:
            return value


def _ollama_address(value: str) -> str:
    """The address as Ollama reads it: host or port may be missing, and its own port is meant only where no scheme is
    written. The variable also says where Ollama listens; a request cannot go to all interfaces, so that becomes this
    machine."""
    scheme, _, rest = value.strip("\"'").rpartition("://")
    host, _, path = rest.partition("/")
    if host.count(":") > 1 and not set(host) & {"[", "@"}:
        host = f"[{host}]"
    name, _, port = (host, "", "") if host.endswith("]") or ":" not in host else host.rpartition(":")
    name = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(name, name)
    port = port or ("" if scheme else "11434")
    address = f"{scheme or 'http'}://{name}{port and f':{port}'}/{path}".rstrip("/")
    return address if address.endswith("/v1") else f"{address}/v1"
