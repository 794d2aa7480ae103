"""What a server remembers between requests: every beginning that a client has marked."""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, cast

import msgspec
from msgspec import Struct

from tests.model_server.wire_form import Body

BYTES_PER_TOKEN = 4


class Counted(Struct, frozen=True):
    """The tokens of a request. Each of them is in one of these."""

    read: int  # came from the cache
    written: int  # went into it
    other: int


class PromptCache:
    """A request reads the longest beginning that ends in a marked block of an earlier request, and writes from there
    to its own last mark."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def count(self, body: Body) -> Counted:
        digest, size, read, written = blake2b(body["model"].encode()), 0, 0, 0
        marked: set[bytes] = set()
        for part, is_marked in _parts(body):
            digest.update(b"%d:%b" % (len(part), part))
            size += len(part)
            here = digest.digest()
            if here in self._known:
                read = size
            if is_marked:
                written = size
                marked.add(here)
        self._known |= marked
        cached = _tokens(read), _tokens(max(read, written))
        return Counted(cached[0], cached[1] - cached[0], _tokens(size) - cached[1])


def _parts(body: Body) -> Iterator[tuple[bytes, bool]]:
    """In the order in which they count, whatever the order of the fields: tools, instructions, messages."""
    for tool in body.get("tools", ()):
        yield _part(tool)
    system = body.get("system", ())
    for block in [system] if isinstance(system, str) else system:
        yield _part(block)
    yield _part(body.get("thinking"))  # another way to think leaves nothing of the messages in the cache
    for message in body["messages"]:
        content = message["content"]
        for block in [content] if isinstance(content, str) else content:
            part, is_marked = _part(block)
            yield message["role"].encode() + part, is_marked


def _part(block: Any) -> tuple[bytes, bool]:
    if not isinstance(block, dict) or "cache_control" not in block:
        return msgspec.json.encode(block), False
    fields = cast(Body, block)
    return msgspec.json.encode({name: fields[name] for name in fields if name != "cache_control"}), True


def _tokens(size: int) -> int:
    """A deterministic guess."""
    return size // BYTES_PER_TOKEN
