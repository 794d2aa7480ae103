"""The interface of a model: a message history in, pieces of one message out, the whole message last."""

import re
from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from coderelay.models.model_card import Card
from coderelay.protocol.calls import Call, ToolSpec
from coderelay.protocol.content import Block, Usage
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.events import StopReason
from coderelay.protocol.session_events import Think
from coderelay.protocol.translatable import say
from coderelay.session.model_messages import AssistantMessage, Message

_NOT_SHOWN = "(What should be here is an image. It is not shown: this model is not known to see images.)"
_NONE = r"gpt-(5\.\d|[6-9])|gemini-2\.5-flash"  # models that can leave out thinking altogether
_MINIMAL = r"gpt-5(-mini|-nano)?(-20\d\d.*)?$"
ANSWER_CHARACTERS = 16 * 1024 * 1024
"""The limit for everything that is kept of one answer: text, thinking, arguments, signatures."""
ANSWER_PARTS = 1024
"""The limit for the number of text blocks, thoughts and calls in one answer."""
CALL_CHARACTERS = 8 * 1024 * 1024
"""The limit for the arguments of one call."""
EVENT_BYTES = 32 * 1024 * 1024
"""The limit for one line of an event stream. The last event of a Responses stream repeats the whole answer."""
_HINT = "The server does not stop sending. Ask for less at once, or use another model. The answer was discarded."


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


def without_images(message: Message) -> Message:
    """Replace images with a note. A model that cannot see images would refuse the whole history, so it is told that
    there is something it cannot see."""
    if isinstance(message, AssistantMessage) or not message.images:
        return message
    notes = [_NOT_SHOWN] * len(message.images)
    return replace(message, text="\n".join([message.text, *notes] if message.text else notes), images=())


def effort(think: Think, card: Card, name: str) -> str | None:
    """The provider's word for how hard to think; None if the model is not told, or there is no word for it."""
    if card.thinks != "effort" or think == "auto":
        return None
    name = name.rpartition("/")[2]
    if name.startswith("gpt-") and "-pro" in name:  # these models only think hard
        return None
    return _least(name) if think == "off" else think


def _least(name: str) -> str:
    """The word for the least thinking. Models refuse a word they do not know; `low` is known by all."""
    if "codex" in name:
        return "low"
    if re.match(_NONE, name):
        return "none"
    return "minimal" if re.match(_MINIMAL, name) else "low"


class AnswerSize:
    """Counts what is kept of one answer while it arrives."""

    def __init__(self) -> None:
        self._characters = 0
        self._parts = 0

    def add(self, characters: int) -> None:
        """Raises ModelFailed when the answer has become too long."""
        self._characters += characters
        if self._characters > ANSWER_CHARACTERS:
            raise answer_too_long(say("{count} characters", count=_mebi(ANSWER_CHARACTERS)))

    def add_part(self, characters: int = 0) -> None:
        """Count a block or a call that begins. Raises ModelFailed when there are too many."""
        self._parts += 1
        if self._parts > ANSWER_PARTS:
            raise answer_too_long(f"{ANSWER_PARTS} parts")
        self.add(characters)


def check_call_size(characters: int) -> None:
    """Raises ModelFailed if the arguments of one call have become too long."""
    if characters > CALL_CHARACTERS:
        raise answer_too_long(f"{_mebi(CALL_CHARACTERS)} characters in the arguments of one call")


def check_event_size(size: int) -> None:
    """Raises ModelFailed if one line of an event stream has become too long."""
    if size > EVENT_BYTES:
        raise answer_too_long(f"{_mebi(EVENT_BYTES)} bytes in one line")


def answer_too_long(bound: str) -> ModelFailed:
    return ModelFailed(say("the model's answer is too long: more than {bound}", bound=bound), hint=_HINT)


def broken_event(why: object) -> ModelFailed:
    return ModelFailed(f"the model server sent a broken event: {why}", retryable=True)


def broken_off() -> ModelFailed:
    return ModelFailed("the model server broke off mid-answer", retryable=True)


def is_json(text: str) -> bool:
    """Whether the arguments of a call are complete."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def drain(pieces: list[str]) -> str:
    """Empty a list of new pieces, and return them as one text."""
    text = "".join(pieces)
    pieces.clear()
    return text


def _mebi(number: int) -> str:
    return f"{number // 1024 // 1024} Mi"
