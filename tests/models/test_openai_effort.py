"""How hard to think, in each model's own words."""

import pytest

from coderelay.models.model_card import Card
from coderelay.models.reasoning_effort_and_images import effort
from coderelay.protocol.session_setting_values import Think


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("gpt-5", "minimal"),
        ("gpt-5-mini", "minimal"),
        ("gpt-5-nano-2025-08-07", "minimal"),
        ("gpt-5-codex", "low"),
        ("gpt-5.1", "none"),
        ("openai/gpt-5.5", "none"),
        ("gpt-6-sol", "none"),
        ("gpt-5.1-codex-max", "low"),
        ("gpt-5-pro", None),
        ("o4-mini", "low"),
        ("gpt-oss-120b", "low"),
        ("gemini-2.5-flash", "none"),
        ("gemini-2.5-pro", "low"),
        ("gemini-3.8-flash", "low"),
    ],
)
def test_not_to_think_is_as_little_as_the_model_can(name: str, least: str | None) -> None:
    assert effort("off", Card(thinks="effort"), name) == least


@pytest.mark.parametrize(
    ("think", "card", "word"),
    [
        ("low", Card(thinks="effort"), "low"),
        ("high", Card(thinks="effort"), "high"),
        ("auto", Card(thinks="effort"), None),
        ("high", Card(), None),
        ("high", Card(thinks="budget"), None),
        ("high", Card(thinks="adaptive"), None),
    ],
)
def test_only_models_that_take_words_are_told(think: Think, card: Card, word: str | None) -> None:
    assert effort(think, card, "m") == word
