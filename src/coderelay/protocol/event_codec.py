"""Encodes events to JSON bytes and decodes them in two steps: first the kind, then the body of that kind."""

from functools import cache
from typing import Any, get_args

import msgspec

from coderelay.protocol.events import AnyEvent, Unrecognised
from coderelay.protocol.translatable import encode_plain

_encoder = msgspec.json.Encoder(enc_hook=encode_plain)


def encode(event: AnyEvent) -> bytes:
    if isinstance(event, Unrecognised):
        return _encoder.encode(event.body)
    return _encoder.encode(event)


def kind_of(event: AnyEvent) -> str:
    if isinstance(event, Unrecognised):
        return event.kind
    return _tag(type(event))


def decode(kind: str, body: bytes | str) -> AnyEvent:
    """An event of a kind that this version does not know becomes Unrecognised and keeps its body unchanged. A known
    kind with an invalid body is damage and raises msgspec.ValidationError, since a changed meaning always gets a new
    kind."""
    event_type = _types().get(kind)
    if event_type is None:
        return Unrecognised(kind, msgspec.json.decode(body, type=dict[str, Any]))
    return _decoder(event_type).decode(body)


@cache
def _types() -> dict[str, type[AnyEvent]]:
    return {_tag(each): each for each in get_args(AnyEvent) if each is not Unrecognised}


@cache
def _decoder(event_type: type[AnyEvent]) -> msgspec.json.Decoder[AnyEvent]:
    return msgspec.json.Decoder(event_type)


@cache
def _tag(event_type: type[AnyEvent]) -> str:
    tag = event_type.__struct_config__.tag
    assert isinstance(tag, str)
    return tag
