"""What is known of models without asking anyone: the table itself, and which row a name gets."""

import subprocess
import sys
from importlib.resources import files
from typing import Any

import msgspec
import pytest

from coderelay.models.catalog import LOCAL, ProviderModels, card_of, cheap_of, models_of, read_catalog
from coderelay.models.model_card import Card, Price
from coderelay.models.providers import KNOWN
from coderelay.protocol.usage_and_cost import Usage

CATALOG = read_catalog()
OFFERS: dict[str, ProviderModels] = CATALOG.makers | CATALOG.resellers
ROWS = [
    *((f"{provider}:{name}", card) for provider, offer in OFFERS.items() for name, card in offer.models.items()),
    *((f"{provider}:{name}", card) for provider, offer in OFFERS.items() for name, card in offer.retired.items()),
    *((f"weights:{name}", card) for name, card in CATALOG.weights.items()),
]
SONNET = CATALOG.makers["anthropic"].models["claude-sonnet-4-5"]
HAIKU = "claude-haiku-5-5"


@pytest.mark.quick
def test_every_row_says_only_what_a_card_can_hold() -> None:
    """What is written is what is understood: no field of it is unknown, misspelt or a default."""
    written: Any = msgspec.json.decode(files("coderelay.models").joinpath("catalog.json").read_bytes())
    assert msgspec.json.decode(msgspec.json.encode(CATALOG)) == written


@pytest.mark.parametrize(("model", "card"), ROWS, ids=[model for model, _ in ROWS])
def test_every_row_makes_sense(model: str, card: Card) -> None:
    assert card.context >= card.output > 0
    assert card.calls == "native"
    assert card.cheap == ""  # said once for the provider
    if card.price is not None:
        read, written = card.price.cache_read, card.price.cache_write
        assert 0 <= card.price.input <= card.price.output
        assert read is None or 0 <= read <= card.price.input
        assert written is None or card.price.input <= written <= 2 * card.price.input


def test_every_name_is_one_model() -> None:
    """A maker's row is never hidden by another maker's, nor by one of the open weights."""
    for provider, offer in CATALOG.makers.items():
        for name, card in (offer.models | offer.retired).items():
            assert msgspec.structs.replace(card_of(f"{provider}:{name}"), cheap="") == card
            assert msgspec.structs.replace(card_of(f"openrouter:any/{name}"), cheap="") == card
    for name, card in CATALOG.weights.items():
        assert card_of(f"ollama:{name}") == msgspec.structs.replace(card, price=Price(0, 0))


@pytest.mark.parametrize(("provider", "offer"), OFFERS.items(), ids=list(OFFERS))
def test_the_small_model_is_offered_and_costs_the_least_of_the_newer_ones(
    provider: str, offer: ProviderModels
) -> None:
    assert offer.cheap == "" or offer.cheap in offer.models
    for name, card in offer.models.items():
        cheap = cheap_of(f"{provider}:{name}")
        price = card_of(cheap).price
        assert cheap in (f"{provider}:{offer.cheap}", f"{provider}:{name}")
        assert price is None or card.price is None or price.output <= card.price.output


@pytest.mark.quick
@pytest.mark.parametrize(
    ("model", "cheap"),
    [
        ("anthropic:claude-sonnet-4-5", f"anthropic:{HAIKU}"),
        ("anthropic:claude-sonnet-4-5-20250929", f"anthropic:{HAIKU}"),
        ("anthropic:claude-opus-9", "anthropic:claude-opus-9"),
        (f"anthropic:{HAIKU}", f"anthropic:{HAIKU}"),
        ("openai:gpt-5.5", "openai:gpt-6-luna"),
        ("openai:gpt-5.5-turbo", "openai:gpt-6-luna"),
        ("openai:gpt-5-nano", "openai:gpt-5-nano"),  # costs less than the small model of today
        ("openai:qwen3-coder", "openai:qwen3-coder"),  # some other server at OPENAI_BASE_URL
        ("gemini:gemini-2.5-pro", "gemini:gemini-3.1-flash-lite"),
        ("openrouter:anthropic/claude-sonnet-4.5", "openrouter:anthropic/claude-haiku-5.5"),
        ("openrouter:deepseek/deepseek-v4-pro", "openrouter:deepseek/deepseek-v4-pro"),  # has no name there
        ("openrouter:who/knows", "openrouter:who/knows"),
        ("ollama:qwen3-coder:30b", "ollama:qwen3-coder:30b"),
        ("mine:claude-sonnet-4-5", "mine:claude-sonnet-4-5"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5"),
    ],
)
def test_titles_are_written_by_the_small_model_of_the_same_provider(model: str, cheap: str) -> None:
    assert cheap_of(model) == cheap


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("anthropic:claude-sonnet-4-5-20250929", "anthropic:claude-sonnet-4-5"),
        ("anthropic:claude-sonnet-4-5-latest", "anthropic:claude-sonnet-4-5"),
        ("anthropic:claude-sonnet-4-5@20250929", "anthropic:claude-sonnet-4-5"),
        ("anthropic:claude-opus-4-0", "anthropic:claude-opus-4"),
        ("anthropic:claude-opus-4-20250514", "anthropic:claude-opus-4"),
        ("anthropic:claude-3-5-haiku-latest", "anthropic:claude-3-5-haiku"),
        ("openai:gpt-5.5-2026-04-23", "openai:gpt-5.5"),
        ("openai:gpt-5-2025-08-07", "openai:gpt-5"),  # not gpt-5.2
        ("openai:gpt-5-mini-2025-08-07", "openai:gpt-5-mini"),
        ("openai:gpt-4.1-2025-04-14", "openai:gpt-4.1"),
        ("gemini:gemini-2.5-pro-preview-05-06", "gemini:gemini-2.5-pro"),
        ("gemini:gemini-2.5-flash-preview-09-2025", "gemini:gemini-2.5-flash"),
        ("gemini:models/gemini-2.5-flash-001", "gemini:gemini-2.5-flash"),
        ("gemini:gemini-3.1-pro", "gemini:gemini-3.1-pro-preview"),
        ("minimax:minimax-m3", "minimax:MiniMax-M3"),
    ],
)
def test_a_dated_name_is_the_same_model_at_the_same_price(name: str, family: str) -> None:
    assert card_of(name) == card_of(family)
    assert card_of(name) != Card()


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("anthropic:claude-opus-4-9", "anthropic:claude-opus-4"),
        ("openai:gpt-5.5-max", "openai:gpt-5.5"),
        ("openai:gpt-5.9", "openai:gpt-5"),
        ("gemini:gemini-3.1-pro-preview-customtools", "gemini:gemini-3.1-pro-preview"),
    ],
)
def test_a_relative_has_the_sizes_of_its_family_and_no_price(name: str, family: str) -> None:
    assert card_of(name) == msgspec.structs.replace(card_of(family), price=None)


@pytest.mark.parametrize("name", ["anthropic:claude-opus", "openai:gpt-50", "openai:o35", "x:y", "x:", "x", "", ":"])
def test_a_name_that_begins_like_none_gets_what_most_have(name: str) -> None:
    assert card_of(name) == Card()


@pytest.mark.parametrize(
    ("name", "maker"),
    [
        ("anthropic/claude-sonnet-4.5", "anthropic:claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5-20250929", "anthropic:claude-sonnet-4-5"),
        ("openai/gpt-5.5", "openai:gpt-5.5"),
        ("google/gemini-2.5-pro", "gemini:gemini-2.5-pro"),
        ("x-ai/grok-4.7", "xai:grok-4.7"),
        ("moonshotai/kimi-k2-0905", "moonshot:kimi-k2"),
        ("minimax/minimax-m3", "minimax:MiniMax-M3"),
    ],
)
def test_openrouter_has_the_makers_models_at_the_makers_prices(name: str, maker: str) -> None:
    card = card_of(f"openrouter:{name}")
    assert msgspec.structs.replace(card, cheap="") == msgspec.structs.replace(card_of(maker), cheap="")


def test_what_openrouter_gives_away_costs_nothing() -> None:
    assert card_of("openrouter:openai/gpt-oss-20b").price is None
    assert card_of("openrouter:openai/gpt-oss-20b:free").price == Price(0, 0)
    assert card_of("openrouter:moonshotai/kimi-k2.6:free").price == Price(0, 0)


@pytest.mark.quick
@pytest.mark.parametrize("provider", LOCAL)
def test_what_runs_here_costs_nothing_and_that_is_known(provider: str) -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=1_000_000, cache_read_tokens=10, cache_write_tokens=10)
    coder = Card(context=262_144, output=65_536, price=Price(0, 0))
    for name in (
        "qwen3-coder:30b",
        "Qwen/Qwen3-Coder-30B-A3B-Instruct",
        "hf.co/unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF:Q4_K_M",
        "/models/Qwen3-Coder-30B-A3B-Instruct-Q4_K_M.gguf",
    ):
        card = card_of(f"{provider}:{name}")
        assert card == coder
        assert card.price is not None
        assert card.price.of(usage) == 0
    assert card_of(f"{provider}:nobody-knows-it") == Card(price=Price(0, 0))
    assert models_of(provider) == []


def test_a_provider_of_ones_own_has_the_sizes_of_what_it_serves_and_no_price() -> None:
    assert card_of("mine:claude-sonnet-4-5") == msgspec.structs.replace(SONNET, price=None)
    assert card_of("openai:qwen3-coder-480b") == Card(context=262_144, output=65_536)
    assert card_of("iflow:claude-sonnet-4-5") == msgspec.structs.replace(SONNET, price=None)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("model", "cost"),
    [
        # 1,000 plain at 3, 8,000 read at 0.30, 1,000 written at 3.75, 2,000 answered at 15
        ("anthropic:claude-sonnet-4-5", (3_000 + 2_400 + 3_750 + 30_000) / 1_000_000),
        # OpenAI's older models ask nothing extra for writing: 1,000 at 5, 8,000 at 0.50, 1,000 at 5, 2,000 at 30
        ("openai:gpt-5.5", (5_000 + 4_000 + 5_000 + 60_000) / 1_000_000),
        # 1,000 at 1.25, 8,000 at 0.125, 1,000 at 1.25, 2,000 at 10
        ("gemini:gemini-2.5-pro", (1_250 + 1_000 + 1_250 + 20_000) / 1_000_000),
    ],
)
def test_b31_what_a_turn_costs(model: str, cost: float) -> None:
    usage = Usage(input_tokens=10_000, output_tokens=2_000, cache_read_tokens=8_000, cache_write_tokens=1_000)
    price = card_of(model).price
    assert price is not None
    assert price.of(usage) == pytest.approx(cost, abs=1e-12)


def test_how_a_model_is_told_to_think_is_known() -> None:
    thinks = {model: card_of(model).thinks for model in ("anthropic:claude-sonnet-4-5", "anthropic:claude-opus-5-5")}
    thinks |= {model: card_of(model).thinks for model in ("openai:gpt-5.5", "openai:o3", "openai:gpt-4.1")}
    thinks |= {model: card_of(model).thinks for model in ("deepseek:deepseek-v4-pro", "anthropic:claude-3-5-haiku")}
    assert thinks == {
        "anthropic:claude-sonnet-4-5": "budget",
        "anthropic:claude-opus-5-5": "adaptive",
        "openai:gpt-5.5": "effort",
        "openai:o3": "effort",
        "openai:gpt-4.1": "no",
        "deepseek:deepseek-v4-pro": "no",
        "anthropic:claude-3-5-haiku": "no",
    }


@pytest.mark.quick
def test_models_are_offered_newest_first_and_retired_ones_are_not() -> None:
    names = [name for name, _ in models_of("anthropic")]
    assert names == list(CATALOG.makers["anthropic"].models)
    assert names.index("claude-opus-5-5") < names.index("claude-opus-5") < names.index("claude-opus-4-5")
    assert "claude-3-5-haiku" not in names
    assert models_of("anthropic")[0] == (names[0], card_of(f"anthropic:{names[0]}"))
    assert [name for name, _ in models_of("openrouter")] == list(CATALOG.openrouter)
    assert models_of("nobody") == []


def test_what_openrouter_offers_is_known() -> None:
    assert [name for name, card in models_of("openrouter") if card == Card()] == []


def test_the_example_of_every_provider_is_offered() -> None:
    """It is what a person gets who has set a key and nothing else."""
    examples = {provider: known.example for provider, known in KNOWN.items() if known.example}
    assert {provider for provider, name in examples.items() if name not in dict(models_of(provider))} == set()


def test_the_table_is_not_read_before_a_model_is_opened() -> None:
    story = (
        "import coderelay.models.model_registry as providers, coderelay.models.catalog as catalog\n"
        "known = providers.ModelRegistry({'OPENAI_API_KEY': 'sk-1'})\n"
        "before = catalog.read_catalog.cache_info().misses\n"
        "known.open('openai:gpt-5.5')\n"
        "known.open('openai:gpt-5.4')\n"
        "print(before, catalog.read_catalog.cache_info().misses)"
    )
    run = subprocess.run([sys.executable, "-c", story], capture_output=True, text=True, timeout=60, check=False)
    assert (run.stdout, run.stderr) == ("0 1\n", "")
