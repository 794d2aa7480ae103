"""Model cards: the context size, price and abilities of a model, known without any request."""

from typing import Literal

from msgspec import Struct

from coderelay.protocol.usage_and_cost import Usage

SMALL_CONTEXT = 16_384


class Price(Struct, frozen=True, omit_defaults=True):
    """US dollars for a million tokens. Cache reads and writes cost as much as other input if they are not set."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def of(self, usage: Usage) -> float:
        read, written = usage.cache_read_tokens, usage.cache_write_tokens
        cached = read * _or(self.cache_read, self.input) + written * _or(self.cache_write, self.input)
        plain = max(0, usage.input_tokens - read - written) * self.input
        return (plain + cached + usage.output_tokens * self.output) / 1_000_000


class Card(Struct, frozen=True, omit_defaults=True):
    """`context` and `output` are limits in tokens: of a request and its answer together, and of the answer alone.
    `thinks` is the way in which a request sets the thinking effort: a `budget` of tokens, an `effort` level,
    `adaptive` (the model decides), or none. `calls` is how it proposes tool calls: by the wire format's own means
    (`native`), in answers bound to a JSON `schema`, or as plain `text`. `cheap` is the name of a smaller model of the
    same provider, for titles and summaries."""

    context: int = 128_000
    output: int = 16_000
    price: Price | None = None
    images: bool = False
    thinks: Literal["no", "budget", "effort", "adaptive"] = "no"
    calls: Literal["native", "schema", "text"] = "native"
    cheap: str = ""

    @property
    def is_small(self) -> bool:
        """Whether the model can follow only a short prompt and few tools."""
        return self.context <= SMALL_CONTEXT


def _or(price: float | None, otherwise: float) -> float:
    return otherwise if price is None else price
