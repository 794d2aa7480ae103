"""The contract of what carries messages to a server and back."""

from collections.abc import Callable
from typing import Protocol

MOST_BYTES = 16 * 1024 * 1024
"""Of one message: pictures travel in them."""
Hear = Callable[[bytes], None]
"""Told each message that arrives, one JSON text each."""
Lose = Callable[[str], None]
"""Told once why nothing will arrive any more; the text is the `what` of a ServerFailed."""
_SAID_CHARS = 2000


class Transport(Protocol):
    async def open(self, hear: Hear, lose: Lose) -> None:
        """Raises ServerFailed."""
        ...

    async def send(self, message: bytes) -> bool:
        """False if nothing will be heard any more in answer to it. Raises ServerFailed."""
        ...

    def settle(self, version: str) -> None:
        """Both sides have agreed on a version of the protocol."""
        ...

    @property
    def last_words(self) -> str:
        """What the server said besides messages, as much as helps to understand why it failed."""
        ...

    async def close(self) -> None:
        """When this returns, nothing of the server is left that this line started."""
        ...


class ServerFailed(Exception):
    """`sent`: it may have acted on what it was asked. Some of `what` is the server's own words, of which nothing is
    left that a terminal would obey."""

    def __init__(self, what: str, *, sent: bool = False) -> None:
        self.what = "".join(each if each.isprintable() or each in "\n\t" else "\ufffd" for each in what)
        super().__init__(self.what)
        self.sent = sent


class TooOften(ServerFailed):
    """It is not started again for now."""


class ServerRefused(ServerFailed):
    """It answered with an error, so it is alive."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"refused: {message[:_SAID_CHARS] or 'it does not say why'} ({code})")
        self.code = code
        self.message = message


class Silent(ServerFailed):
    """It did not answer in time, and may still be at it."""

    def __init__(self, what: str) -> None:
        super().__init__(what, sent=True)


class Forgotten(ServerFailed):
    """It knows nothing of us any more and did nothing; it can be greeted again."""

    def __init__(self) -> None:
        super().__init__("has forgotten us")
