"""What a message is made of, and what it cost."""

from msgspec import Struct


class Text(Struct, frozen=True, tag="text"):
    text: str


class Seal(Struct, frozen=True):
    """What a provider wants back unchanged with a thought or a call, and what means nothing to anyone else.

    `by` names the wire form and the model that can read it; to any other it is not sent.
    """

    by: str
    data: str


class Thinking(Struct, frozen=True, tag="thinking", omit_defaults=True):
    thinking: str
    seal: Seal | None = None


class Image(Struct, frozen=True):
    """`data` is base64."""

    media_type: str
    data: str


Block = Text | Thinking


class Note(Struct, frozen=True):
    """Something a model is told besides the conversation: where it is, what has changed. The latest note on a topic
    is what the model knows of it."""

    topic: str
    text: str


class Usage(Struct, frozen=True, omit_defaults=True):
    """`input_tokens` counts everything that was sent, read from a cache or not; `output_tokens` everything that
    came, thoughts included."""

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
    """Costs added up; None where none of them is known."""
    if more is None:
        return cost
    return more if cost is None else cost + more


def text_of(blocks: tuple[Block, ...]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, Text))


def thinking_of(blocks: tuple[Block, ...]) -> str:
    return "".join(block.thinking for block in blocks if isinstance(block, Thinking))
