"""The contract of a model: a history in, pieces of one message out, the whole message last."""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from msgspec import Struct

from coderelay.protocol.calls import Call, ToolSpec
from coderelay.protocol.content import Block, Usage
from coderelay.protocol.events import StopReason
from coderelay.session.transcript import Message


class Request(Struct, frozen=True):
    """`messages` may be the same growing list at every step; a model may keep what it encoded of it."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec]


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
    name: str

    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Raises ModelFailed. A Completion is always the last piece, and there is exactly one."""
        ...

    async def close(self) -> None: ...
