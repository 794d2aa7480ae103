"""Model providers: the known ones with their address, wire format and keys, and what a person may configure.

To add a provider, add its record to `KNOWN` here and its models to `catalog.json`.
"""

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


class Provider(Struct, frozen=True, omit_defaults=True):
    """`keys` and `addresses` are environment variables, of which the first that is set counts; the last of `keys` is
    the one people are told of. A provider without `keys` needs no key. `example` is the model for a person who has a
    key and names no model."""

    kind: WireForm
    base_url: str
    keys: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # variables that may name the model to use
    own_kind: WireForm | None = None  # the wire format at `base_url` itself, if other addresses speak another one
    example: str = ""


KNOWN: dict[str, Provider] = {
    "anthropic": Provider(
        "anthropic",
        "https://api.anthropic.com/v1",
        keys=("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"),  # the order of Anthropic's own program
        addresses=("ANTHROPIC_BASE_URL",),
        names=("ANTHROPIC_MODEL",),
        example="claude-sonnet-4-5",
    ),
    "openai": Provider(
        "openai-chat",
        "https://api.openai.com/v1",
        keys=("OPENAI_API_KEY",),
        addresses=("OPENAI_BASE_URL",),
        names=("OPENAI_MODEL",),
        own_kind="openai-responses",
        example="gpt-5.5",
    ),
    "iflow": Provider(
        "openai-chat",
        "https://apis.iflow.cn/v1",
        keys=("IFLOW_API_KEY",),
        addresses=("IFLOW_BASE_URL",),
        names=("IFLOW_MODEL_NAME",),
        example="qwen3-coder-plus",
    ),
    "gemini": Provider(
        "openai-chat",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        keys=("GEMINI_API_KEY",),
        names=("GEMINI_MODEL",),
        example="gemini-3.8-flash",
    ),
    "openrouter": Provider(
        "openai-chat",
        "https://openrouter.ai/api/v1",
        keys=("OPENROUTER_API_KEY",),
        example="anthropic/claude-sonnet-5.5",
    ),
    "deepseek": Provider(
        "openai-chat", "https://api.deepseek.com", keys=("DEEPSEEK_API_KEY",), example="deepseek-v4-pro"
    ),
    "ollama": Provider("openai-chat", "http://127.0.0.1:11434/v1", addresses=("OLLAMA_HOST",)),
    "lmstudio": Provider("openai-chat", "http://127.0.0.1:1234/v1"),
    "llamacpp": Provider("openai-chat", "http://127.0.0.1:8080/v1"),
    "vllm": Provider("openai-chat", "http://127.0.0.1:8000/v1"),
}
"""In the order in which their keys count, if a person has several and names no model."""
