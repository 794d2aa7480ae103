"""A model server for trying `coder` without a provider: `python -m coderelay.testing.model_server`.

It speaks OpenAI Chat Completions and Anthropic Messages, streamed, as far as `coder` needs them. Without a script the
last message of a request decides the answer, by the rules of `echo`. It accepts every request; the server that our
own tests use, which refuses what a strict provider would refuse, is in `tests/model_server`.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct

RULES = """\
  run: CMD            proposes bash CMD
  read: PATH          proposes read PATH
  write: PATH TEXT    proposes write PATH TEXT
  tokens: N           streams N tokens
  (a tool result)     says "done: " and the first line of the result
  anything else       is said back\
"""
_EPILOG = f"""\
Without --script the last message decides the answer:
{RULES}

A script file is a JSON list of answers, one for each request in turn; every field is optional:
  {{"text": "on it", "calls": [{{"name": "bash", "arguments": {{"command": "make"}}}}]}}
"""
_CHAT, _MESSAGES = "/v1/chat/completions", "/v1/messages"
_NOTE_TAGS = "environment|instructions|skills|agents|files|mode|file-changed|background|hook|shell|reminder|workflow"
_NOTES = re.compile(rf"(?:<({_NOTE_TAGS})\b[^>]*>.*?</\1>\n?)+\n?", re.DOTALL)
_TODO_LIST = re.compile(r"\n\n<workflow>\n.*</workflow>\s*\Z", re.DOTALL)  # begun from a prompt of several steps

Body = dict[str, Any]


class RequestedCall(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call that the model proposes."""

    name: str
    arguments: dict[str, object] = {}


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """What the model answers to one request."""

    text: str = ""
    calls: tuple[RequestedCall, ...] = ()


def without_notes(content: str) -> str:
    """The text of the person, without the notes for the model that `coder` puts before it."""
    found = _NOTES.match(content)
    return content[found.end() :] if found else content


def echo(body: Body) -> Answer:
    """The answer that follows from the last message of a request, in either wire format. A message of notes alone
    says nothing: a change of the mode comes as one after the result of a call."""
    for message in reversed(body["messages"]):
        if message["role"] == "assistant":
            break
        if (answer := _answer_to(message)) != Answer():
            return answer
    return Answer("ok")


def _answer_to(message: Body) -> Answer:
    results = [part for part in _parts(message) if part.get("type") == "tool_result"]
    if message["role"] == "tool" or results:
        return Answer("done: " + _text(results[-1] if results else message).partition("\n")[0])
    text = without_notes(without_notes(_text(message)))  # a todo list that was begun comes with a note of its own
    text = _TODO_LIST.sub("", f"\n\n{text}").removeprefix("\n\n")
    verb, _, rest = text.partition(": ")
    match verb:
        case "run":
            return Answer(calls=(RequestedCall("bash", {"command": rest}),))
        case "read":
            return Answer(calls=(RequestedCall("read", {"path": rest}),))
        case "write":
            path, _, content = rest.partition(" ")
            return Answer(calls=(RequestedCall("write", {"path": path, "content": content}),))
        case "tokens" if rest.isdecimal():
            return Answer("tok " * int(rest))
        case _:
            return Answer(text)


def _parts(message: Body) -> list[Body]:
    content: str | list[Body] | None = message.get("content")
    return [{"type": "text", "text": content or ""}] if content is None or isinstance(content, str) else content


def _text(message: Body) -> str:
    return "\n".join(part["text"] for part in _parts(message) if part["type"] == "text")


def serve(decide: Callable[[Body], Answer], port: int = 0) -> ThreadingHTTPServer:
    """Create a server that already listens on 127.0.0.1. The caller must run it. Port 0 takes a free port."""

    class Requests(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send("application/json", [msgspec.json.encode({"object": "list", "data": [{"id": "scripted"}]})])

        def do_POST(self) -> None:
            body = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])), type=Body)
            events = {_CHAT: _chat_events, _MESSAGES: _messages_events}.get(self.path)
            if events is None:
                self.send_error(404)
                return
            self._send("text/event-stream", events(decide(body)))

        def _send(self, content_type: str, pieces: Iterator[bytes] | list[bytes]) -> None:
            self.send_response(200)
            self.send_header("content-type", content_type)
            self.end_headers()
            with suppress(ConnectionError):  # the client has left
                for piece in pieces:
                    self.wfile.write(piece)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name that the base class gives
            pass

    return ThreadingHTTPServer(("127.0.0.1", port), Requests)


def _chat_events(answer: Answer) -> Iterator[bytes]:
    deltas: list[Body] = [{"content": word} for word in _words(answer.text)]
    for index, call in enumerate(answer.calls):
        function = {"name": call.name, "arguments": msgspec.json.encode(call.arguments).decode()}
        proposed = {"index": index, "id": _new_id(), "type": "function", "function": function}
        deltas.append({"tool_calls": [proposed]})
    for delta in [{"role": "assistant", "content": ""}, *deltas]:
        yield _chat_chunk({"index": 0, "delta": delta, "finish_reason": None})
    yield _chat_chunk({"index": 0, "delta": {}, "finish_reason": "tool_calls" if answer.calls else "stop"})
    yield b"data: [DONE]\n\n"


def _chat_chunk(choice: Body) -> bytes:
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    return b"data: %b\n\n" % msgspec.json.encode({**chunk, "choices": [choice]})


def _messages_events(answer: Answer) -> Iterator[bytes]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: Body = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield _event("message_start", message={**message, "stop_reason": None, "usage": usage})
    blocks: list[tuple[Body, list[Body]]] = []
    if answer.text:
        words = [{"type": "text_delta", "text": word} for word in _words(answer.text)]
        blocks.append(({"type": "text", "text": ""}, words))
    for call in answer.calls:
        block: Body = {"type": "tool_use", "id": _new_id(), "name": call.name, "input": {}}
        arguments = msgspec.json.encode(call.arguments).decode()
        blocks.append((block, [{"type": "input_json_delta", "partial_json": arguments}]))
    for index, (block, deltas) in enumerate(blocks):
        yield _event("content_block_start", index=index, content_block=block)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    end = {"stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None}
    yield _event("message_delta", delta=end, usage=usage)
    yield _event("message_stop")


def _event(kind: str, **fields: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), msgspec.json.encode({"type": kind, **fields}))


def _new_id() -> str:
    return f"call_{uuid4().hex}"  # 37 characters; OpenAI accepts 40


def _words(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+$", text)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m coderelay.testing.model_server",
        description="A model server on 127.0.0.1 that follows a script. It speaks OpenAI Chat Completions and "
        "Anthropic Messages.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes a free one")
    parser.add_argument("--script", type=Path, metavar="FILE.json")
    options = parser.parse_args()
    try:
        decide = _read_script(options.script) if options.script else echo
    except (OSError, ValueError) as wrong:
        parser.error(f"{options.script}: {wrong}")
    server = serve(decide, options.port)
    url = f"http://127.0.0.1:{server.server_port}"
    sys.stdout.write(f"export OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY=scripted\n")
    sys.stdout.write(f"# or: export ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=scripted\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt):
        server.serve_forever()


def _read_script(file: Path) -> Callable[[Body], Answer]:
    answers = iter(msgspec.json.decode(file.read_bytes(), type=list[Answer]))
    return lambda _: next(answers, Answer("(the script has ended)"))


if __name__ == "__main__":
    main()
