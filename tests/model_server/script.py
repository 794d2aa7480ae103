"""Which answer comes next: scripts, and one server's place in its script."""

import re
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from tests.model_server.answers import (
    Answer,
    CutOff,
    Garbage,
    Hangs,
    HttpError,
    Message,
    Spoken,
    Tokens,
)
from tests.model_server.violation import Refused
from tests.model_server.wire_form import Asked, Body, History


class Replies(Struct, frozen=True):
    """An answer made from the request. An awaitable holds the answer back until it is ready."""

    decide: Callable[[Body], Answer | Awaitable[Answer]]


class InOrder(Struct, frozen=True):
    """One answer per accepted request, in order of arrival."""

    answers: tuple[Answer | Replies, ...]


class ByHistory(Struct, frozen=True):
    """Every request is answered by one function of its messages.

    Call ids too depend on the history alone, so a repeated request gets the same answer.
    """

    decide: Callable[[History], Answer]


Script = InOrder | ByHistory


def script(*answers: Answer | Replies) -> Script:
    return InOrder(answers)


def replies(decide: Callable[[Body], Answer | Awaitable[Answer]]) -> Replies:
    return Replies(decide)


def by_history(decide: Callable[[History], Answer]) -> Script:
    return ByHistory(decide)


class Playback:
    """Where one server is in its script."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._taken = 0
        self._last_call = 0

    async def next(self, asked: Asked) -> Answer:
        """The answer is taken before the first await, so arrival decides the order."""
        match self._script:
            case InOrder(answers):
                return self._name_calls(await _decide(self._take(answers), asked.body), asked.history)
            case ByHistory(decide):
                self._last_call = 0
                return self._name_calls(decide(asked.history), asked.history)
            case _:
                assert_never(self._script)

    def _take(self, answers: tuple[Answer | Replies, ...]) -> Answer | Replies:
        if self._taken == len(answers):
            raise Refused("script exhausted", status=500)
        self._taken += 1
        return answers[self._taken - 1]

    def _name_calls(self, answer: Answer, history: History) -> Answer:
        # A new server may continue an old session: ids must be new to the history as well.
        self._last_call = max(self._last_call, _last_call_in(history))
        match answer:
            case Message() | Tokens():
                return self._named(answer)
            case CutOff() | Hangs() | Garbage():
                return replace(answer, answer=self._named(answer.answer))
            case HttpError():
                return answer
            case _:
                assert_never(answer)

    def _named(self, answer: Spoken) -> Spoken:
        if isinstance(answer, Tokens):
            return answer
        return replace(answer, calls=tuple(replace(c, id=c.id or self._new_id()) for c in answer.calls))

    def _new_id(self) -> str:
        self._last_call += 1
        return f"call_{self._last_call}"


async def _decide(answer: Answer | Replies, body: Body) -> Answer:
    if not isinstance(answer, Replies):
        return answer
    decided = answer.decide(body)
    return await decided if isawaitable(decided) else decided


_OUR_ID = re.compile(r"call_(\d{1,9})")


def _last_call_in(history: History) -> int:
    ids = (_OUR_ID.fullmatch(call.id) for said in history for call in said.calls)
    return max((int(number[1]) for number in ids if number), default=0)
