"""Model names to models: `provider:name`, with the keys and addresses the providers' own tools use."""

from collections.abc import Mapping

from coderelay.models.model import Model
from coderelay.models.openai_chat import OpenAIChat
from coderelay.protocol.errors import CannotRun

_OPENAI = "https://api.openai.com/v1"
_NO_KEY = "no key for {model}: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server)"


class Providers:
    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    def open(self, model: str) -> Model:
        if (problem := self.why_not(model)) is not None:
            raise CannotRun(problem)
        _, _, name = model.partition(":")
        base_url = self._env.get("OPENAI_BASE_URL") or _OPENAI
        return OpenAIChat(name, base_url, self._env["OPENAI_API_KEY"])

    def why_not(self, model: str) -> str | None:
        """Why this model cannot be used here, or None."""
        provider, colon, name = model.partition(":")
        if not colon or not name:
            return f"model {model!r} must be written provider:name, like openai:gpt-5.5"
        if provider != "openai":
            return f"there is no provider {provider!r}; there is openai"
        return None if self._env.get("OPENAI_API_KEY") else _NO_KEY.format(model=model)
