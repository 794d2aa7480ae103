"""The bundled catalog of known models: context sizes, prices and abilities, without any request."""

import re
from functools import cache

from msgspec import Struct, json, structs

from coderelay.models.model_card import Card, Price

LOCAL = ("ollama", "lmstudio", "llamacpp", "vllm", "local")
_FREE = Price(0, 0)
# Suffixes that do not make a name another model: a date, or a word for the newest of its kind.
_SAME = r"(-(latest|preview|exp|0|\d{3,8}(-\d\d-\d\d)?|\d\d-\d\d(\d\d)?))*"
_MARKS = str.maketrans("._:@", "----")

Cards = dict[str, Card]


class ProviderModels(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`models` are in the order to show them. `retired` models are still known, for old logs and for those who still
    serve them. `cheap` is one of the models."""

    models: Cards
    retired: Cards = {}
    cheap: str = ""


class Catalog(Struct, frozen=True, forbid_unknown_fields=True):
    """`resellers` charge their own prices. `weights` are open models that anyone may serve. `openrouter` has the
    models of the makers at the makers' prices, under names of its own."""

    about: tuple[str, ...]
    makers: dict[str, ProviderModels]
    resellers: dict[str, ProviderModels]
    weights: Cards
    openrouter: tuple[str, ...]

    def offer(self, provider: str) -> ProviderModels | None:
        return self.makers.get(provider) or self.resellers.get(provider)


@cache
def read_catalog() -> Catalog:
    """The catalog is read when the first model is opened, not when this file is imported."""
    with open(__file__.removesuffix(".py") + ".json", "rb") as file:
        return json.decode(file.read(), type=Catalog)


def card_of(model: str) -> Card:
    """The card of `provider:name`, or else of the family that its name begins with. An unknown model gets common
    values, and no price."""
    provider, _, name = model.partition(":")
    if card := _find(_offered(provider), name):
        return structs.replace(card, price=_FREE) if name.endswith(":free") else card
    card = _find(_offered("openrouter"), name) or Card()
    return structs.replace(card, price=_FREE if provider in LOCAL else None, cheap="")


def models_of(provider: str) -> list[tuple[str, Card]]:
    """The models to offer, newest and best first. Empty where only the server knows its models."""
    catalog = read_catalog()
    offer = catalog.offer(provider)
    names = offer.models if offer else catalog.openrouter if provider == "openrouter" else ()
    return [(name, card_of(f"{provider}:{name}")) for name in names]


def full_name(name: str) -> str:
    """`provider:name` of a model that people name without its provider: the name that its maker gave it, or one word
    of the names of one maker only (`sonnet`), which means the newest of them. Any other name is returned as it is."""
    if ":" in name:
        return name
    makers = read_catalog().makers.items()
    wanted = name.lower()
    exact = [
        f"{maker}:{each}" for maker, offer in makers for each in (*offer.models, *offer.retired) if each == wanted
    ]
    by_word = {
        maker: next((each for each in offer.models if wanted in each.split("-")), "")
        for maker, offer in makers
        if wanted.isalpha()
    }
    found = exact or [f"{maker}:{each}" for maker, each in by_word.items() if each]
    return found[0] if len(found) == 1 else name


def cheap_of(model: str) -> str:
    """The small model of the same provider, for titles and summaries; the model itself if none is known."""
    cheap = card_of(model).cheap
    return f"{model.partition(':')[0]}:{cheap}" if cheap else model


def _find(cards: Cards, name: str) -> Card | None:
    """The card with the longest known prefix of the name. A relative gets no price: the members of a family cost
    differently."""
    plain = stem = _plain(name)
    while stem and stem not in cards:
        stem = stem.rpartition("-")[0]
    if not stem:
        return None
    is_same = stem == plain or re.fullmatch(_SAME, plain[len(stem) :])
    return cards[stem] if is_same else structs.replace(cards[stem], price=None)


def _plain(name: str) -> str:
    """The normalised name: without the maker or a folder before it, and with `-` as the only separator."""
    return name.rpartition("/")[2].lower().translate(_MARKS).removesuffix("-preview")


@cache
def _offered(provider: str) -> Cards:
    """The cards of a provider, by normalised name."""
    catalog = read_catalog()
    if offer := catalog.offer(provider):
        return _cards(offer, offer.cheap)
    if provider != "openrouter":
        return {}
    spelled = {_plain(name): name for name in catalog.openrouter}
    cards = {_plain(name): card for name, card in catalog.weights.items()}
    for offer in catalog.makers.values():
        cards |= _cards(offer, spelled.get(_plain(offer.cheap), ""))
    return cards


def _cards(offer: ProviderModels, cheap: str) -> Cards:
    """The cards by normalised name; each with the name of the cheap model, unless it costs no more itself."""
    least = offer.models[offer.cheap].price if cheap else None
    return {
        _plain(name): structs.replace(card, cheap=cheap) if _costs_more(card.price, least) else card
        for name, card in (offer.retired | offer.models).items()
    }


def _costs_more(price: Price | None, least: Price | None) -> bool:
    return least is not None and (price is None or price.output > least.output)
