"""A model server that follows a script: a real HTTP door with no provider behind it.

async with model_server(script(proposes(bash("make")), says("built"))) as server:
    ...                          # a client speaks to server.base_url
assert server.violations == []   # every request was one a strict provider accepts
"""

from tests.model_server.answers import (
    Answer,
    Call,
    bash,
    call,
    cut_off,
    empty,
    garbage,
    hangs,
    http_error,
    proposes,
    raw_call,
    read,
    says,
    signed,
    tokens,
    write,
)
from tests.model_server.script import Script, by_history, replies, script
from tests.model_server.server import ModelServer, Received, model_server
from tests.model_server.thread import ModelServerThread, model_server_thread
from tests.model_server.violation import Violation
from tests.model_server.wire_form import Body, History, Said

__all__ = [
    "Answer",
    "Body",
    "Call",
    "History",
    "ModelServer",
    "ModelServerThread",
    "Received",
    "Said",
    "Script",
    "Violation",
    "bash",
    "by_history",
    "call",
    "cut_off",
    "empty",
    "garbage",
    "hangs",
    "http_error",
    "model_server",
    "model_server_thread",
    "proposes",
    "raw_call",
    "read",
    "replies",
    "says",
    "script",
    "signed",
    "tokens",
    "write",
]
