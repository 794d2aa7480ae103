"""Pieces of one message in one update, for clients that are slower than the model."""

from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

_MOST_BYTES = 32 * 1024
_BEGINS = b'{"jsonrpc":"2.0","method":"session/update"'


class _Text(Struct, frozen=True, tag_field="type", tag="text"):
    text: str


class _Chunk(Struct, frozen=True, rename="camel", omit_defaults=True):
    session_update: Literal["agent_message_chunk", "agent_thought_chunk"]
    content: _Text
    message_id: str | None = None


class _Params(Struct, frozen=True, rename="camel"):
    session_id: str
    update: _Chunk


class _Message(Struct, frozen=True):
    jsonrpc: str
    method: str
    params: _Params


_DECODER = msgspec.json.Decoder(_Message)


def joined_chunks(one: bytes, other: bytes) -> bytes | None:
    """Two messages as one, if both are pieces of the same text; else None."""
    if len(one) > _MOST_BYTES or not one.startswith(_BEGINS) or not other.startswith(_BEGINS):
        return None
    try:
        first, second = _DECODER.decode(one), _DECODER.decode(other)
    except msgspec.DecodeError:  # an update of another kind
        return None
    text = _Text(first.params.update.content.text + second.params.update.content.text)
    joined = replace(first, params=replace(first.params, update=replace(first.params.update, content=text)))
    same = replace(second, params=replace(second.params, update=replace(second.params.update, content=text)))
    return msgspec.json.encode(joined) if joined == same else None
