"""How an answer travels: whole, or broken in the way the script says."""

import asyncio
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import assert_never

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
from tests.model_server.connection import Connection
from tests.model_server.wire_form import Asked, WireForm

JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
GARBAGE = b'data: {"choices": [{"delta": {"con\n\n'
EVENTS_PER_CHUNK = 512


async def deliver(answer: Answer, form: WireForm, asked: Asked, connection: Connection) -> bool:
    """Whether the connection can carry another request."""
    if isinstance(answer, HttpError):
        body = form.error(answer.status, answer.message, None, answer.code)
        await connection.send(answer.status, JSON | answer.headers, body)
        return True
    await connection.begin(200, EVENTS if asked.streams else JSON)
    match answer:
        case Message() | Tokens():
            await _send(_pieces(answer, form, asked), answer, connection)
        case Garbage(spoken, count):
            pieces = _pieces(spoken, form, asked)
            await _send(chain(islice(pieces, count), [GARBAGE], pieces), spoken, connection)
        case CutOff(spoken, count):
            await _send(islice(_pieces(spoken, form, asked), count), spoken, connection)
            return False
        case Hangs(spoken, count):
            await _send(islice(_pieces(spoken, form, asked), count), spoken, connection)
            await connection.client_leaves()
            return False
        case _:
            assert_never(answer)
    await connection.end()
    return True


def _pieces(answer: Spoken, form: WireForm, asked: Asked) -> Iterator[bytes]:
    return form.stream(asked, answer) if asked.streams else iter([form.whole(asked, answer)])


async def _send(pieces: Iterable[bytes], answer: Spoken, connection: Connection) -> None:
    events = iter(pieces)
    if isinstance(answer, Tokens):
        while block := b"".join(islice(events, EVENTS_PER_CHUNK)):
            await connection.send_chunk(block)
        return
    for sent, event in enumerate(events):
        if sent and answer.token_delay:
            await asyncio.sleep(answer.token_delay)
        await connection.send_chunk(event)
