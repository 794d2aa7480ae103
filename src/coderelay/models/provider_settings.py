"""What a person may configure of a provider."""

from typing import Literal

from msgspec import Struct

from coderelay.models.model_card import Card

WireForm = Literal["anthropic", "openai-chat", "openai-responses"]


class ProviderSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a person may configure (`providers.<name>`). The key itself is never in a file of ours, only the name of
    its variable. `models` are names, or names with their cards."""

    kind: WireForm | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    models: tuple[str, ...] | dict[str, Card] = ()
