"""Model names to models: `provider:name`, with the keys and addresses the providers' own tools use."""

from collections.abc import Mapping

from coderelay.models.http.address import parse_address, without_user
from coderelay.models.model import Model
from coderelay.models.openai_chat import OpenAIChat
from coderelay.protocol.errors import CannotRun, ModelFailed

_OPENAI = "https://api.openai.com/v1"


class Providers:
    """`env` has the keys and addresses, and the proxies and certificates that every connection obeys."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    def open(self, model: str) -> Model:
        """Raises CannotRun, saying what to do."""
        provider, colon, name = model.partition(":")
        if not colon or not provider.strip() or not name.strip():
            example = name.strip() or (not colon and model) or "gpt-5.5"
            raise CannotRun(f"model {model!r} must be written provider:name, like openai:{example}")
        if provider != "openai":
            raise CannotRun(f"there is no provider {provider!r}; there is openai, so write openai:{name}")
        try:
            return OpenAIChat(name, self._base_url(), self._key(model), env=self._env)
        except ModelFailed as failed:  # a proxy that cannot be used
            raise CannotRun(failed.message, failed.hint) from failed

    def why_not(self, model: str) -> str | None:
        """Why this model cannot be used here, or None."""
        try:
            self.open(model)
        except CannotRun as refused:
            return str(refused)
        return None

    def _key(self, model: str) -> str:
        key = self._env.get("OPENAI_API_KEY", "").strip()
        if not key:
            raise CannotRun(
                f"no key for {model}: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server; "
                "if that needs no key, any text will do)"
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise CannotRun(
                "OPENAI_API_KEY holds a character that no key has (a line break, a space, a curly quote?); "
                "copy the key again"
            )
        return key

    def _base_url(self) -> str:
        url = self._env.get("OPENAI_BASE_URL", "").strip() or _OPENAI
        if parse_address(url) is None:
            raise CannotRun(f"OPENAI_BASE_URL is not a usable address: {without_user(url)!r}; write https://host/v1")
        return url
