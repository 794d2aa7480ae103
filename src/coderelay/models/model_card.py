"""What is known of a model without asking anyone."""

from typing import Literal

from msgspec import Struct

from coderelay.protocol.content import Usage


class Price(Struct, frozen=True, omit_defaults=True):
    """US dollars for a million tokens. What is read from or written to a cache costs as other input does if
    nothing else is said."""

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
    """`context` and `output` in tokens: what a request and its answer may have together, and the answer alone.
    `thinks`: how it is told how hard to think (`budget` of tokens, `effort` in words, `adaptive` by itself, or not
    at all). `calls`: how it proposes tool calls (by the wire form's own means, in answers bound to a schema, or as
    plain text). `cheap`: the name of a smaller model of the same provider, for titles and summaries."""

    context: int = 128_000
    output: int = 16_000
    price: Price | None = None
    images: bool = False
    thinks: Literal["no", "budget", "effort", "adaptive"] = "no"
    calls: Literal["native", "schema", "text"] = "native"
    cheap: str = ""


def _or(price: float | None, otherwise: float) -> float:
    return otherwise if price is None else price
