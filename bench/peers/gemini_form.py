"""Gemini's generateContent, as far as a script needs it."""

from collections.abc import Iterator
from typing import Any

import msgspec

from tests.model_server.answers import Spoken, Tokens
from tests.model_server.pieces import words
from tests.model_server.wire_form import Asked

Part = dict[str, Any]


def stream(asked: Asked, answer: Spoken, /) -> Iterator[bytes]:
    """A call comes whole: this form has no pieces of arguments."""
    for part in _parts(answer):
        yield _event(_response(asked, [part]))
    yield _event(_response(asked, [{"text": ""}], over=True))


def whole(asked: Asked, answer: Spoken, /) -> bytes:
    """Who gives a schema gets the emptiest value it allows: any other answer is asked for again and again."""
    config: Part = asked.body.get("generationConfig") or {}
    schema: Part | None = config.get("responseJsonSchema") or config.get("responseSchema")
    parts = [{"text": msgspec.json.encode(_emptiest(schema)).decode()}] if schema else list(_parts(answer))
    return msgspec.json.encode(_response(asked, parts, over=True))


def _parts(answer: Spoken) -> Iterator[Part]:
    if isinstance(answer, Tokens):
        yield from ({"text": answer.text} for _ in range(answer.count))
        return
    yield from ({"text": piece} for piece in words(answer.text))
    for call in answer.calls:
        yield {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}


def _response(asked: Asked, parts: list[Part], *, over: bool = False) -> Part:
    candidate: Part = {"content": {"role": "model", "parts": parts}, "index": 0}
    if over:
        candidate["finishReason"] = "STOP"
    usage = {"promptTokenCount": asked.size // 4, "candidatesTokenCount": 20, "totalTokenCount": asked.size // 4 + 20}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted", "responseId": asked.digest}


def _emptiest(schema: Part) -> object:
    if "enum" in schema:
        return schema["enum"][0]
    match str(schema.get("type", "object")).lower():
        case "object":
            properties: dict[str, Part] = schema.get("properties") or {}
            return {name: _emptiest(each) for name, each in properties.items()}
        case "array":
            return []
        case "boolean":
            return False
        case "number" | "integer":
            return schema.get("minimum", 0)
        case _:
            return ""


def _event(payload: Part) -> bytes:
    return b"data: " + msgspec.json.encode(payload) + b"\r\n\r\n"
