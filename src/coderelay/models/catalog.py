"""The models we know, bundled: sizes, prices and abilities, without asking anyone."""

from coderelay.models.card import Card


def card_of(model: str) -> Card:
    """What is known of `provider:name`. An unknown model gets what most have, and no price."""
    return Card()
