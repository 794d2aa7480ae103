"""The parts of a message: text, thinking, images, and notes."""

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


def text_of(blocks: tuple[Block, ...]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, Text))


def thinking_of(blocks: tuple[Block, ...]) -> str:
    return "".join(block.thinking for block in blocks if isinstance(block, Thinking))
