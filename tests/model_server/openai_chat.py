"""OpenAI Chat Completions: how the form is asked and answers. What it refuses is in `openai_chat_strict`."""

import re
from collections.abc import Iterator, Mapping
from itertools import repeat, zip_longest
from typing import Any
from zlib import crc32

import msgspec

from tests.model_server.answers import Call, Message, Spoken, Tokens
from tests.model_server.openai_chat_request import history
from tests.model_server.openai_chat_signature import signature
from tests.model_server.openai_chat_strict import check
from tests.model_server.pieces import arguments_of, fragments, words
from tests.model_server.wire_form import Asked, Body

PATH = "/v1/chat/completions"
CREATED = 1_700_000_000  # fixed, so that equal requests get equal bytes


def is_authorised(headers: Mapping[str, str], /) -> bool:
    return re.fullmatch(r"Bearer \S+", headers.get("authorization", "")) is not None


def accept(body: Body, raw: bytes, /) -> Asked:
    request = check(body)
    return Asked(body, f"{crc32(raw):08x}", len(raw), history(request), request.stream)


def stream(asked: Asked, answer: Spoken, /) -> Iterator[bytes]:
    yield _chunk(asked, {"role": "assistant", "content": ""})
    if isinstance(answer, Tokens):
        yield from repeat(_chunk(asked, {"content": answer.text}), answer.count)
    else:
        for delta in _deltas(asked, answer):
            yield _chunk(asked, delta)
    yield _chunk(asked, {}, _finish_reason(answer))
    if _wants_usage(asked):
        yield _event(_envelope(asked, "chat.completion.chunk") | {"choices": [], "usage": _usage(asked, answer)})
    yield b"data: [DONE]\n\n"


def whole(asked: Asked, answer: Spoken, /) -> bytes:
    choice = {
        "index": 0,
        "message": _message(asked, answer),
        "logprobs": None,
        "finish_reason": _finish_reason(answer),
    }
    envelope = _envelope(asked, "chat.completion")
    return msgspec.json.encode(envelope | {"choices": [choice], "usage": _usage(asked, answer)})


def error(status: int, message: str, param: str | None, code: str | None, /) -> bytes:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    if status == 429:
        kind = "rate_limit_error"
    return msgspec.json.encode({"error": {"message": message, "type": kind, "param": param, "code": code}})


def models() -> bytes:
    only = {"id": "scripted", "object": "model", "created": CREATED, "owned_by": "coderelay"}
    return msgspec.json.encode({"object": "list", "data": [only]})


def _deltas(asked: Asked, answer: Message) -> Iterator[dict[str, Any]]:
    for piece in words(answer.thinking or ""):
        yield {"reasoning_content": piece}
    for piece in words(answer.text):
        yield {"content": piece}
    for index, call in enumerate(answer.calls):
        yield {"tool_calls": [{"index": index, **_call(asked, call, "")}]}
    # The arguments of parallel calls take turns: only the index says whose a piece is.
    for turn in zip_longest(*(fragments(arguments_of(call)) for call in answer.calls)):
        for index, piece in enumerate(turn):
            if piece is not None:
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _call(asked: Asked, call: Call, arguments: str) -> dict[str, Any]:
    made: Body = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
    if call.signed:
        made["extra_content"] = {"google": {"thought_signature": signature(asked.body["model"], call.id)}}
    return made


def _message(asked: Asked, answer: Spoken) -> dict[str, Any]:
    if isinstance(answer, Tokens):
        return {"role": "assistant", "content": answer.text * answer.count, "refusal": None}
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.calls:
        message["tool_calls"] = [_call(asked, call, arguments_of(call)) for call in answer.calls]
    return message


def _finish_reason(answer: Spoken) -> str:
    if isinstance(answer, Tokens):
        return "stop"
    return answer.finish_reason or ("tool_calls" if answer.calls else "stop")


def _usage(asked: Asked, answer: Spoken) -> dict[str, int]:
    """A deterministic guess: four bytes of the request, or one piece of the answer, are a token."""
    prompt = asked.size // 4
    completion = answer.count if isinstance(answer, Tokens) else sum(1 for _ in _deltas(asked, answer))
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _wants_usage(asked: Asked) -> bool:
    options: Body | None = asked.body.get("stream_options")
    return bool(options and options.get("include_usage"))


def _chunk(asked: Asked, delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    usage = {"usage": None} if _wants_usage(asked) else {}
    return _event(_envelope(asked, "chat.completion.chunk") | {"choices": [choice]} | usage)


def _envelope(asked: Asked, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{asked.digest}", "object": kind, "created": CREATED, "model": asked.body["model"]}


def _event(payload: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(payload) + b"\n\n"
