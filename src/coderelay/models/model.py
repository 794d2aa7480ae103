"""The contract of a model: a history in, pieces of one message out, the whole message last."""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from msgspec import Struct

from coderelay.models.model_card import Card
from coderelay.protocol.calls import Call, ToolSpec
from coderelay.protocol.content import Block, Usage
from coderelay.protocol.events import StopReason, Think
from coderelay.session.transcript import Message


class Request(Struct, frozen=True):
    """`messages` may be the same growing list at every step; a model may keep what it encoded of it. `think` is how
    hard to think before answering; `auto` leaves that to the provider. Requests of one
    `session` begin alike, which some providers want to know."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    think: Think = "auto"
    session: str = ""


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


class Models(Protocol):
    """The models there are, by `provider:name`."""

    def open(self, model: str) -> Model:
        """For one turn. Raises CannotRun, saying what to do."""
        ...

    def why_not(self, model: str) -> str | None:
        """Why this model cannot be used here, or None."""
        ...

    def card(self, model: str) -> Card: ...

    def cheap(self, model: str) -> str:
        """A smaller one of the same provider, for what needs no great mind; the model itself if there is none."""
        ...
