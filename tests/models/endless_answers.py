"""Answers that do not end, in every wire form, as the events a broken server would send."""

import json
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count, repeat

from tests.models.chat_completions import HEAD, calling, delta, events

PIECE = "never ending " * 5000
Endless = Callable[[], Iterator[bytes]]


def _chat(**fields: object) -> Endless:
    return lambda: repeat(events(delta(**fields)))


def _chat_call(**function: str) -> Endless:
    return lambda: repeat(events(calling({"index": 0, "function": function})))


def _chat_calls() -> Iterator[bytes]:
    for index in count():
        yield events(calling({"index": index, "id": f"c{index}", "function": {"name": "read", "arguments": "{}"}}))


def _anthropic(block: dict[str, object], **fields: str) -> Endless:
    def answer() -> Iterator[bytes]:
        yield events({"type": "content_block_start", "index": 0, "content_block": block})
        yield from repeat(events({"type": "content_block_delta", "index": 0, "delta": fields}))

    return answer


def _anthropic_blocks(**block: object) -> Endless:
    def answer() -> Iterator[bytes]:
        for index in count():
            yield events(
                {"type": "content_block_start", "index": index, "content_block": block | {"id": f"c{index}"}}
            )

    return answer


def _responses(kind: str, item: str) -> Endless:
    def answer() -> Iterator[bytes]:
        begun = {"type": item, "call_id": "c", "name": "read"}
        yield events({"type": "response.output_item.added", "output_index": 0, "item": begun})
        yield from repeat(events({"type": f"response.{kind}.delta", "output_index": 0, "delta": PIECE}))

    return answer


def _responses_items(**item: object) -> Endless:
    def answer() -> Iterator[bytes]:
        for index in count():
            yield events({"type": "response.output_item.done", "output_index": index, "item": item})

    return answer


def _line() -> Iterator[bytes]:
    yield b"data: "
    yield from repeat(PIECE.encode())


def _string() -> Iterator[bytes]:
    """One JSON text in one line, as an answer begins."""
    yield b"data: " + json.dumps(delta(content="")).encode()[:-20]
    yield from repeat(PIECE.encode())


ENDLESS: dict[str, dict[str, Endless]] = {
    "openai-chat": {
        "text": _chat(content=PIECE),
        "blanks": _chat(content=" " * 4096),
        "thinking": _chat(reasoning_content=PIECE),
        "refusal": _chat(refusal=PIECE),
        "arguments": _chat_call(name="read", arguments=PIECE),
        "calls": _chat_calls,
        "line": _line,
        "string": _string,
    },
    "openai-responses": {
        "text": _responses("output_text", "message"),
        "thinking": _responses("reasoning_summary_text", "reasoning"),
        "arguments": _responses("function_call_arguments", "function_call"),
        "seals": _responses_items(type="reasoning", encrypted_content=PIECE),
        "calls": _responses_items(type="function_call", call_id="c", name="read", arguments="{}"),
        "line": _line,
    },
    "anthropic": {
        "text": _anthropic({"type": "text", "text": ""}, type="text_delta", text=PIECE),
        "thinking": _anthropic({"type": "thinking", "thinking": ""}, type="thinking_delta", thinking=PIECE),
        "signature": _anthropic({"type": "thinking", "thinking": ""}, type="signature_delta", signature=PIECE),
        "arguments": _anthropic(
            {"type": "tool_use", "id": "c", "name": "read", "input": {}}, type="input_json_delta", partial_json=PIECE
        ),
        "calls": _anthropic_blocks(type="tool_use", name="read", input={}),
        "blocks": _anthropic_blocks(type="redacted_thinking", data=PIECE),
        "line": _line,
    },
}
ENDLESS["schema"] = {name: ENDLESS["openai-chat"][name] for name in ("text", "blanks", "thinking", "line")}


@contextmanager
def endless_then(endless: Endless, then: bytes) -> Generator[str]:
    """The address of a server on a thread of its own: its first answer does not end, the later ones are `then`."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        thread = threading.Thread(target=_serve, args=(door, endless, then), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{door.getsockname()[1]}/v1"
        door.shutdown(socket.SHUT_RDWR)
        thread.join()


def _serve(door: socket.socket, endless: Endless, then: bytes) -> None:
    bodies: Iterator[Iterator[bytes]] = chain([endless()], (iter([then]) for _ in repeat(None)))
    with suppress(OSError):  # the door was closed
        while True:
            connection, _ = door.accept()
            with connection, suppress(ConnectionError):  # the client has had enough
                _answer(connection, next(bodies))


def _answer(connection: socket.socket, body: Iterator[bytes]) -> None:
    request = connection.makefile("rb")
    length = 0
    while (line := request.readline().strip()) != b"":
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    request.read(length)
    connection.sendall(HEAD)
    for piece in body:
        connection.sendall(piece)
