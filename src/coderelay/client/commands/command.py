"""The contract of a built-in command: where it was typed and what stands behind its name, to what comes of it."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from coderelay.client.built_in import usage_of
from coderelay.client.client import Client
from coderelay.client.language import t
from coderelay.client.slash import Told
from coderelay.protocol.asks import By
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import PromptId, SessionId

RememberModel = Callable[[str, str], str | None]
"""Keep a model for later sessions in a folder. Returns a warning if that failed."""


class Context(Struct):
    """`on_prompt` is told of every prompt that a command sends itself, before it does. `keys` is what this surface
    does with which key. `numbered` is what the numbers in lists stand for, by the command that takes them: the
    list that was shown last."""

    client: Client
    session: SessionId
    by: By
    remember_model: RememberModel
    on_prompt: Callable[[PromptId], None]
    keys: str
    numbered: dict[str, list[str]]


Command = Callable[[Context, str], Awaitable[Told]]
"""Raises BadInput, or another refusal of what it asks of the session."""


def misused(name: str) -> BadInput:
    return BadInput(t("it is {usage}", usage=usage_of(name)))
