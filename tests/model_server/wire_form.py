"""The contract of a wire form: one provider's way to be asked and to answer.

A wire form is a module with these names; `openai_chat` is the first.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from tests.model_server.answers import Call, Spoken

Body = dict[str, Any]
"""A decoded request body, as the client sent it."""


class Said(Struct, frozen=True):
    """One message of a request's history, in no provider's words."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""  # of the call that a tool message answers


History = Sequence[Said]


class Asked(Struct, frozen=True):
    """An accepted request."""

    body: Body
    digest: str  # of the body on the wire: ids made from it repeat when the request does
    size: int
    history: History
    streams: bool


class WireForm(Protocol):
    @property
    def PATH(self) -> str: ...  # noqa: N802  a constant of the module

    def is_authorised(self, headers: Mapping[str, str], /) -> bool: ...

    def accept(self, body: Body, raw: bytes, /) -> Asked:
        """Raises Refused, naming the field, on anything a strict provider would refuse."""
        ...

    def stream(self, asked: Asked, answer: Spoken, /) -> Iterator[bytes]:
        """One server-sent event per item. Equal requests and answers give equal bytes."""
        ...

    def whole(self, asked: Asked, answer: Spoken, /) -> bytes: ...

    def error(self, status: int, message: str, param: str | None, code: str | None, /) -> bytes: ...
