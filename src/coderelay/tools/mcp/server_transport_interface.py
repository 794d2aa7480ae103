"""The interface of MCP transports, which carry messages to a server and back, and their errors."""

from typing import Protocol

from coderelay.protocol.translatable import apply_to_values, say
from coderelay.wire.transport import Transport

MOST_BYTES = 16 * 1024 * 1024
"""The size limit of one message. It is high because images travel in messages."""


class ServerTransport(Transport, Protocol):
    """An exchange raises ServerFailed. When `close` returns, nothing of the server that this transport started is
    left."""

    async def open(self) -> None:
        """Raises ServerFailed."""
        ...

    def set_protocol_version(self, version: str) -> None:
        """Called when both sides have agreed on a version of the protocol."""
        ...

    @property
    def last_error_output(self) -> str:
        """What the server wrote besides messages, as much as helps to understand why it failed."""
        ...


_SAID_CHARS = 2000


class ServerFailed(Exception):
    """`sent` means that the server may have acted on the request. Parts of `what` are the server's own words;
    characters that a terminal would obey are replaced. `output` is the end of its error output."""

    def __init__(self, what: str, *, sent: bool = False, output: str = "") -> None:
        self.what = apply_to_values(_harmless, what)
        super().__init__(self.what)
        self.sent = sent
        self.output = _harmless(output)

    @property
    def told(self) -> str:
        """What is wrong, with the server's error output."""
        if not self.output:
            return self.what
        return say("{problem}; it said:\n{text}", problem=self.what, text=self.output)


class StartedTooOften(ServerFailed):
    """The server was started too often and is not started again for now."""


class ServerRefused(ServerFailed):
    """The server answered with an error, so it is alive."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(say("refused: {why} ({code})", why=message[:_SAID_CHARS], code=code))
        self.code = code
        self.message = message


class ServerTimeout(ServerFailed):
    """The server did not answer in time, and may still be working."""

    def __init__(self, what: str) -> None:
        super().__init__(what, sent=True)


class SessionForgotten(ServerFailed):
    """The server has forgotten our session and did nothing; it can be initialised again."""

    def __init__(self) -> None:
        super().__init__("has forgotten us")


def _harmless(text: str) -> str:
    return "".join(each if each.isprintable() or each in "\n\t" else "\ufffd" for each in text)
