"""The interface of a model: a message history in, pieces of one message out, the whole message last."""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from msgspec import Struct

from coderelay.models.model_card import Card
from coderelay.protocol.calls import Call
from coderelay.protocol.events import StopReason
from coderelay.protocol.message_content import Block
from coderelay.protocol.session_setting_values import Think
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.usage_and_cost import Usage
from coderelay.session.model_messages import Message


class Request(Struct, frozen=True):
    """`messages` may be the same growing list at every step; a model may keep what it encoded of it. `think` is how
    hard to think before answering; `auto` leaves that to the provider. Requests of one `session` begin with the same
    messages, which some providers want to know for their caches."""

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
    """The finished message. Calls are complete: one that was only partly received is left out."""

    blocks: tuple[Block, ...]
    calls: tuple[Call, ...]
    usage: Usage
    stop_reason: StopReason


Piece = TextPiece | ThinkingPiece | Completion


class Model(Protocol):
    """`id` is `provider:name`. Messages of other models are sent without their seals, which only those models can
    read."""

    id: str
    card: Card

    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Raises ModelFailed. A Completion is always the last piece, and there is exactly one."""
        ...


class Models(Protocol):
    """The available models, by `provider:name`."""

    def open(self, model: str) -> Model:
        """Open a model for one turn. Raises CannotRun, saying what to do."""
        ...

    def why_not(self, model: str) -> str | None:
        """Why this model cannot be used here, or None."""
        ...

    def card(self, model: str) -> Card: ...

    def cheap(self, model: str) -> str:
        """A smaller model of the same provider, for simple work; the model itself if there is none."""
        ...
