"""The contract of a model: a history in, pieces of one message out, the whole message last."""

from collections.abc import AsyncGenerator, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from coderelay.models.card import Card
from coderelay.protocol.calls import Call, ToolSpec
from coderelay.protocol.content import Block, Usage
from coderelay.protocol.events import StopReason
from coderelay.session.transcript import Message

Think = Literal["off", "low", "medium", "high"]


class Request(Struct, frozen=True):
    """`messages` may be the same growing list at every step; a model may keep what it encoded of it. `think` is how
    hard to think before answering; None leaves that to the provider."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    think: Think | None = None


class TextPiece(Struct, frozen=True):
    text: str


class ThinkingPiece(Struct, frozen=True):
    text: str


class Completion(Struct, frozen=True):
    """The finished message. Calls are whole: one that was only half received is not here."""

    blocks: tuple[Block, ...]
    calls: tuple[Call, ...]
    usage: Usage
    stop_reason: StopReason


Piece = TextPiece | ThinkingPiece | Completion


class Model(Protocol):
    """`id` is `provider:name`; what others said is sent along without the seals that only they can read."""

    id: str
    card: Card

    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Raises ModelFailed. A Completion is always the last piece, and there is exactly one."""
        ...
