"""The parts of a message (text, thinking, images, notes), and its token usage and cost."""

from msgspec import Struct


class Text(Struct, frozen=True, tag="text"):
    text: str


class Seal(Struct, frozen=True):
    """Opaque data that a provider wants back unchanged with a thought or a call, such as a signature.

    `by` names the wire format and the model that can read it. It is never sent to any other.
    """

    by: str
    data: str


class Thinking(Struct, frozen=True, tag="thinking", omit_defaults=True):
    thinking: str
    seal: Seal | None = None


class Image(Struct, frozen=True):
    """An image. `data` is base64."""

    media_type: str
    data: str


Block = Text | Thinking


class Note(Struct, frozen=True):
    """Something a model is told besides the conversation, such as its environment or a change. The latest note on a
    topic replaces the earlier ones."""

    topic: str
    text: str


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


def text_of(blocks: tuple[Block, ...]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, Text))


def thinking_of(blocks: tuple[Block, ...]) -> str:
    return "".join(block.thinking for block in blocks if isinstance(block, Thinking))
