"""Every wire form there is, and the model that speaks it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from msgspec import Struct

from coderelay.models.anthropic.model import Anthropic
from coderelay.models.api_client import ApiClient
from coderelay.models.model import Model
from coderelay.models.model_card import Card
from coderelay.models.openai_chat.model import OpenAIChat
from coderelay.models.openai_responses.model import OpenAIResponses
from tests.model_server import ModelServer, Script, model_server
from tests.models.chat_completions import KEY


class Form(Struct, frozen=True):
    name: str
    made: Callable[[str, Card, ApiClient], Model]
    card: Card
    headers: dict[str, str]

    @asynccontextmanager
    async def model(self, url: str, name: str = "m", idle_seconds: float = 10.0) -> AsyncGenerator[Model]:
        api_client = ApiClient(url, self.headers, secret=KEY, env={}, idle_seconds=idle_seconds)
        try:
            yield self.made(f"test:{name}", self.card, api_client)
        finally:
            await api_client.close()

    @asynccontextmanager
    async def scripted(self, script: Script) -> AsyncGenerator[tuple[ModelServer, Model]]:
        """At the end every request must have been one that a strict provider accepts."""
        async with model_server(script) as server, self.model(server.base_url) as model:
            yield server, model
            assert server.violations == []


_BEARER = {"authorization": f"Bearer {KEY}"}
_ANTHROPIC = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}

FORMS = (
    Form("openai-chat", OpenAIChat, Card(images=True, thinks="effort"), _BEARER),
    Form("openai-responses", OpenAIResponses, Card(images=True, thinks="effort"), _BEARER),
    Form("anthropic", Anthropic, Card(images=True, thinks="adaptive"), _ANTHROPIC),
    Form("anthropic-budget", Anthropic, Card(images=True, thinks="budget"), _ANTHROPIC),
)
