"""OpenAI Responses: how the form is asked and answers. What it refuses is in `openai_responses_strict`."""

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

from tests.model_server.answers import Spoken, Tokens
from tests.model_server.openai_chat import CREATED, error, is_authorised
from tests.model_server.openai_responses_request import history
from tests.model_server.openai_responses_seal import seal
from tests.model_server.openai_responses_strict import check
from tests.model_server.pieces import arguments_of, fragments, words
from tests.model_server.wire_form import Asked, Body

__all__ = ["PATH", "accept", "error", "is_authorised", "stream", "whole"]

PATH = "/v1/responses"
SEALED = "reasoning.encrypted_content"

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
_FAILED = "error"


class _Output(Struct, frozen=True):
    """An item of the answer: as it begins, what it is in the end, and its text in pieces."""

    begun: Body
    done: Body
    pieces: Iterable[str]


def accept(body: Body, raw: bytes, /) -> Asked:
    request = check(body)
    return Asked(body, f"{crc32(raw):08x}", len(raw), history(request), request.stream)


def stream(asked: Asked, answer: Spoken, /) -> Iterator[bytes]:
    for number, (kind, fields) in enumerate(_events(asked, answer)):
        event = {"type": kind, "sequence_number": number, **fields}
        yield b"event: %b\ndata: %b\n\n" % (kind.encode(), msgspec.json.encode(event))


def whole(asked: Asked, answer: Spoken, /) -> bytes:
    return msgspec.json.encode(_response(asked, answer, _status(answer)))


def _events(asked: Asked, answer: Spoken) -> Iterator[tuple[str, Body]]:
    for kind in ("created", "in_progress"):
        yield f"response.{kind}", {"response": _response(asked, answer, "in_progress")}
    for index, output in enumerate(_output(asked, answer)):
        yield "response.output_item.added", {"output_index": index, "item": output.begun}
        yield from _parts(output, {"item_id": output.done["id"], "output_index": index})
        yield "response.output_item.done", {"output_index": index, "item": output.done}
    status = _status(answer)
    yield f"response.{status}", {"response": _response(asked, answer, status)}


def _parts(output: _Output, place: Body) -> Iterator[tuple[str, Body]]:
    match output.done["type"]:
        case "reasoning":
            for number, part in enumerate(output.done["summary"]):
                at = place | {"summary_index": number}
                yield "response.reasoning_summary_part.added", {**at, "part": part | {"text": ""}}
                for piece in output.pieces:
                    yield "response.reasoning_summary_text.delta", {**at, "delta": piece}
                yield "response.reasoning_summary_text.done", {**at, "text": part["text"]}
                yield "response.reasoning_summary_part.done", {**at, "part": part}
        case "message":
            part, at = output.done["content"][0], place | {"content_index": 0}
            yield "response.content_part.added", {**at, "part": part | {"text": ""}}
            for piece in output.pieces:
                yield "response.output_text.delta", {**at, "delta": piece, "logprobs": []}
            yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
            yield "response.content_part.done", {**at, "part": part}
        case _:
            for piece in output.pieces:
                yield "response.function_call_arguments.delta", {**place, "delta": piece}
            yield "response.function_call_arguments.done", {**place, "arguments": output.done["arguments"]}


def _output(asked: Asked, answer: Spoken) -> list[_Output]:
    if isinstance(answer, Tokens):
        return [_message(asked, answer.text * answer.count, repeat(answer.text, answer.count))]
    made: list[_Output] = []
    if answer.thinking:
        leads_to = answer.text or next((call.id for call in answer.calls), "")
        made.append(_reasoning(asked, answer.thinking, leads_to))
    if answer.text:
        made.append(_message(asked, answer.text, words(answer.text)))
    for number, call in enumerate(answer.calls):
        item: Body = {"type": "function_call", "id": f"fc_{asked.digest}{number}", "call_id": call.id}
        item |= {"name": call.name, "arguments": "", "status": "in_progress"}
        arguments = arguments_of(call)
        made.append(_Output(item, item | {"arguments": arguments, "status": "completed"}, fragments(arguments)))
    if made and _status(answer) == "incomplete":
        made[-1].done["status"] = "incomplete"
    return made


def _reasoning(asked: Asked, thinking: str, leads_to: str) -> _Output:
    wanted: Body = asked.body.get("reasoning") or {}
    summary = [thinking] if wanted.get("summary") else []
    item: Body = {"type": "reasoning", "id": f"rs_{asked.digest}", "summary": []}
    done = item | {"summary": [{"type": "summary_text", "text": text} for text in summary]}
    if SEALED in asked.body.get("include", ()):
        done["encrypted_content"] = seal(asked.body["model"], summary, leads_to)
        item["encrypted_content"] = done["encrypted_content"][:8]  # sent early too, and not whole
    return _Output(item, done, words(thinking))


def _message(asked: Asked, text: str, pieces: Iterable[str]) -> _Output:
    item: Body = {"type": "message", "id": f"msg_{asked.digest}", "status": "in_progress", "role": "assistant"}
    part: Body = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return _Output(item | {"content": []}, item | {"content": [part], "status": "completed"}, pieces)


def _status(answer: Spoken) -> str:
    reason = None if isinstance(answer, Tokens) else answer.finish_reason
    if reason == _FAILED:
        return "failed"
    return "incomplete" if reason in _INCOMPLETE else "completed"


def _response(asked: Asked, answer: Spoken, status: str) -> Body:
    is_over = status != "in_progress"
    reason = None if isinstance(answer, Tokens) else answer.finish_reason
    return {
        "id": f"resp_{asked.digest}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "model": asked.body["model"],
        "instructions": asked.body.get("instructions"),
        "tools": asked.body.get("tools", []),
        "store": asked.body.get("store", True),
        "error": {"code": "server_error", "message": "The model gave up."} if status == "failed" else None,
        "incomplete_details": {"reason": _INCOMPLETE[reason or ""]} if status == "incomplete" else None,
        "output": [output.done for output in _output(asked, answer)] if is_over else [],
        "usage": _usage(asked, answer) if is_over else None,
    }


def _usage(asked: Asked, answer: Spoken) -> dict[str, Any]:
    """A deterministic guess: four bytes of the request, or one piece of the answer, are a token."""
    read, thought = asked.size // 4, 0
    if isinstance(answer, Tokens):
        written = answer.count
    else:
        thought = len(words(answer.thinking or ""))
        arguments = sum(len(fragments(arguments_of(call))) for call in answer.calls)
        written = thought + len(words(answer.text)) + arguments
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": read + written,
    }
