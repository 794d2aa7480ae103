"""What a message is made of, and what it cost."""

from msgspec import Struct


class Text(Struct, frozen=True, tag="text"):
    text: str


class Thinking(Struct, frozen=True, tag="thinking"):
    thinking: str


Block = Text | Thinking


class Usage(Struct, frozen=True, omit_defaults=True):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    reasoning_tokens: int = 0

    def plus(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


def text_of(blocks: tuple[Block, ...]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, Text))


def thinking_of(blocks: tuple[Block, ...]) -> str:
    return "".join(block.thinking for block in blocks if isinstance(block, Thinking))
