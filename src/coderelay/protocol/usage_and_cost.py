"""Tokens and money that a model cost."""

from msgspec import Struct


class Usage(Struct, frozen=True, omit_defaults=True):
    """Token counts. `input_tokens` counts everything that was sent, including what was read from a cache.
    `output_tokens` counts everything that was received, including reasoning."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def plus(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


def plus(cost: float | None, more: float | None) -> float | None:
    """The sum of two costs. An unknown cost (None) is ignored; the sum is None only if both are unknown."""
    if more is None:
        return cost
    return more if cost is None else cost + more
