"""Sends a request to the model and streams its answer. A failed request is sent again; the part of an answer that had
come when the turn was stopped is kept."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from io import StringIO

from coderelay.agents.turn import Turn
from coderelay.models.model import Completion, Model, Request, TextPiece, ThinkingPiece
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.events import MessageAdded
from coderelay.protocol.ids import MessageId, new_id
from coderelay.protocol.live_updates import Notice, TextDelta, ThinkingDelta
from coderelay.protocol.message_content import Block, Note, Text, Thinking
from coderelay.protocol.translatable import say

FIRST_SECONDS = 0.5
_TRIES = 8
_TRIES_OFF = 3  # retries if no server is running at an address of this machine: it may be restarting, but seldom is
_LONGEST = 30.0
_LONGEST_TOLD = 120.0  # a server that asks for a longer pause is not waited for


class ModelChanged(Exception):
    """The person chose another model while a failing one was being retried."""


class ModelRequests:
    """Sends the requests of one turn and receives their answers. `current_model` is the model that the
    session is to use now."""

    def __init__(self, turn: Turn, retry_seconds: float, current_model: Callable[[], Model]) -> None:
        self._turn = turn
        self._retry_seconds = retry_seconds
        self._current_model = current_model

    async def receive(
        self, model: Model, request: Request, *, notes: Sequence[Note] = (), shown: bool = True
    ) -> tuple[MessageId, Completion]:
        """Send a request, and retry it after a pause for as long as a retry may help."""
        tries = 0
        while True:
            tries += 1
            message_id, heard = MessageId(new_id()), _PartialMessage()
            try:
                return message_id, await self._hear(model, request, message_id, heard, shown)
            except ModelFailed as failed:
                pause = pause_before_retry(failed, tries, self._retry_seconds)
                if pause is None:
                    raise
                self._turn.show(Notice(_trying_again(failed.message, pause)))
                await asyncio.sleep(pause)
                if shown and self._current_model() is not model:
                    raise ModelChanged from failed
            except asyncio.CancelledError:
                if shown:
                    await asyncio.shield(self._keep_partial(model, message_id, heard, notes))
                raise

    async def _hear(
        self, model: Model, request: Request, message_id: MessageId, heard: "_PartialMessage", shown: bool
    ) -> Completion:
        async with aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                match piece:
                    case TextPiece(text):
                        heard.text.write(text)
                        if shown:
                            self._turn.show(TextDelta(message_id, text))
                    case ThinkingPiece(text):
                        heard.thinking.write(text)
                        if shown:
                            self._turn.show(ThinkingDelta(message_id, text))
                    case Completion():
                        if not piece.blocks and not piece.calls:
                            raise ModelFailed("the model gave an empty answer", retryable=True)
                        return piece
        raise ModelFailed("the model ended without an answer", retryable=True)

    async def _keep_partial(
        self, model: Model, message_id: MessageId, heard: "_PartialMessage", notes: Sequence[Note]
    ) -> None:
        """When the turn is stopped in mid-answer, keep the text that was shown. Incomplete calls are dropped."""
        state = self._turn.state
        if not heard.text.tell() or state.turn is None or not state.turn.stop_requested:
            return
        message = MessageAdded(
            message_id=message_id,
            turn_id=self._turn.id,
            model=model.id,
            blocks=heard.blocks(),
            stop_reason="cancelled",
            notes=tuple(notes),
        )
        await self._turn.add(message, [], final=False)


class _PartialMessage:
    """The part of a message that has been received so far."""

    def __init__(self) -> None:
        self.text = StringIO()
        self.thinking = StringIO()

    def blocks(self) -> tuple[Block, ...]:
        thinking = self.thinking.getvalue()
        return (*([Thinking(thinking)] if thinking else []), Text(self.text.getvalue()))


def _trying_again(problem: str, pause: float) -> str:
    if pause < 1:
        return say("{problem}; retrying", problem=problem)
    return say("{problem}; retrying in {seconds} s", problem=problem, seconds=f"{pause:.0f}")


def pause_before_retry(failed: ModelFailed, tries: int, first: float) -> float | None:
    """Seconds to wait after so many tries, or None if a retry is of no use. A pause that the server asks for is kept;
    otherwise each pause is about twice the one before. If `first` is 0, there is no retry."""
    if not failed.retryable or tries >= (_TRIES_OFF if failed.is_off else _TRIES) or first <= 0:
        return None
    if failed.retry_after is not None:
        return failed.retry_after if failed.retry_after <= _LONGEST_TOLD else None
    from random import uniform  # loaded for the first retry

    return min(first * 2 ** (tries - 1), _LONGEST) * uniform(0.8, 1.2)
