"""Anthropic Messages: how the form is asked and answers. What it refuses is in `anthropic_strict`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import repeat
from typing import Any
from zlib import crc32

import msgspec

from tests.model_server.answers import Spoken, Tokens
from tests.model_server.anthropic_cache import Counted, PromptCache
from tests.model_server.anthropic_request import history
from tests.model_server.anthropic_signature import signature
from tests.model_server.anthropic_strict import check
from tests.model_server.pieces import arguments_of, fragments, words
from tests.model_server.violation import Refused
from tests.model_server.wire_form import Asked, Body

_STOP_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class CountedRequest(Asked, frozen=True):
    counted: Counted


class Anthropic:
    """One for each server: what a request costs depends on those before it."""

    PATH = "/v1/messages"

    def __init__(self) -> None:
        self._cache = PromptCache()

    def is_authorised(self, headers: Mapping[str, str], /) -> bool:
        bearer = re.fullmatch(r"Bearer \S+", headers.get("authorization", ""))
        if not headers.get("x-api-key") and bearer is None:
            return False
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", headers.get("anthropic-version", "")):
            raise Refused("header is required", "anthropic-version")
        return True

    def accept(self, body: Body, raw: bytes, /) -> Asked:
        request = check(body)
        digest = f"{crc32(raw):08x}"
        return CountedRequest(body, digest, len(raw), history(request), request.stream, self._cache.count(body))

    def stream(self, asked: Asked, answer: Spoken, /) -> Iterator[bytes]:
        yield _event("message_start", message=_message(asked, [], None, _usage(asked, 1)))
        for index, (begun, deltas) in enumerate(_blocks(asked, answer)):
            yield _event("content_block_start", index=index, content_block=begun)
            if index == 0:
                yield _event("ping")
            for delta in deltas:
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        end = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
        yield _event("message_delta", delta=end, usage={"output_tokens": _output_tokens(asked, answer)})
        yield _event("message_stop")

    def whole(self, asked: Asked, answer: Spoken, /) -> bytes:
        content = [_whole(begun, deltas) for begun, deltas in _blocks(asked, answer)]
        usage = _usage(asked, _output_tokens(asked, answer))
        return msgspec.json.encode(_message(asked, content, _stop_reason(answer), usage))

    def error(self, status: int, message: str, param: str | None, code: str | None, /) -> bytes:
        """The form has no room for a code, and names the place in the words."""
        told = {"type": _ERRORS.get(status, "api_error"), "message": f"{param}: {message}" if param else message}
        return msgspec.json.encode({"type": "error", "error": told})


def _blocks(asked: Asked, answer: Spoken) -> Iterator[tuple[Body, Iterable[Body]]]:
    """Each block as it begins, and what is added to it."""
    if isinstance(answer, Tokens):
        yield {"type": "text", "text": ""}, repeat({"type": "text_delta", "text": answer.text}, answer.count)
        return
    if answer.thinking:
        deltas: list[Body] = [{"type": "thinking_delta", "thinking": piece} for piece in words(answer.thinking)]
        deltas.append({"type": "signature_delta", "signature": signature(asked.body["model"], answer.thinking)})
        yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
    if answer.text:
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in words(answer.text)]
    for call in answer.calls:
        written = ["", *fragments(arguments_of(call))]
        begun: Body = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield begun, [{"type": "input_json_delta", "partial_json": piece} for piece in written]


def _whole(begun: Body, deltas: Iterable[Body]) -> Body:
    block = dict(begun)
    for delta in deltas:
        for name, piece in delta.items():
            if name != "type":
                block[name] = block.get(name, "") + piece
    if "partial_json" in block:
        block["input"] = _object(block.pop("partial_json"))
    return block


def _object(arguments: str) -> dict[str, object]:
    """A whole answer has no room for arguments that are none."""
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(arguments, type=dict[str, object])
    return {}


def _stop_reason(answer: Spoken) -> str:
    if isinstance(answer, Tokens):
        return "end_turn"
    reason = answer.finish_reason or ("tool_use" if answer.calls else "end_turn")
    return _STOP_REASONS.get(reason, reason)


def _message(asked: Asked, content: list[Body], stop_reason: str | None, usage: dict[str, int]) -> Body:
    return {
        "id": f"msg_{asked.digest}",
        "type": "message",
        "role": "assistant",
        "model": asked.body["model"],
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }


def _usage(asked: Asked, output_tokens: int) -> dict[str, int]:
    assert isinstance(asked, CountedRequest)
    return {
        "input_tokens": asked.counted.other,
        "cache_creation_input_tokens": asked.counted.written,
        "cache_read_input_tokens": asked.counted.read,
        "output_tokens": output_tokens,
    }


def _output_tokens(asked: Asked, answer: Spoken) -> int:
    """A deterministic guess: one piece of the answer is a token."""
    return sum(1 for _, deltas in _blocks(asked, answer) for delta in deltas if delta["type"] != "signature_delta")


def _event(kind: str, **fields: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), msgspec.json.encode({"type": kind, **fields}))
