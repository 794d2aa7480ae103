"""Checks of an answer that arrives in pieces: its size, and whether the arguments of a call are complete.

A server that does not stop sending is given up.
"""

import msgspec

from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.translatable import say

ANSWER_CHARACTERS = 16 * 1024 * 1024
"""The limit for everything that is kept of one answer: text, thinking, arguments, signatures."""
ANSWER_PARTS = 1024
"""The limit for the number of text blocks, thoughts and calls in one answer."""
CALL_CHARACTERS = 8 * 1024 * 1024
"""The limit for the arguments of one call."""
EVENT_BYTES = 32 * 1024 * 1024
"""The limit for one line of an event stream. The last event of a Responses stream repeats the whole answer."""
_HINT = "The server does not stop sending. Ask for less at once, or use another model. The answer was discarded."


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


def _mebi(number: int) -> str:
    return f"{number // 1024 // 1024} Mi"


def is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
