"""What anyone may want to know. The log can answer them in any process, unless a query says otherwise."""

from msgspec import Struct

from coderelay.protocol.ids import SessionId


class ListSessions(Struct, frozen=True):
    """Newest first; `cwd` keeps only those of one folder."""

    cwd: str | None = None
    limit: int = 100


class ShowSession(Struct, frozen=True):
    session: SessionId


class ReadMessages(Struct, frozen=True):
    """The session's messages in wire form, oldest first."""

    session: SessionId


class ExportSession(Struct, frozen=True):
    """The session in the OpenAI form of its snapshot file."""

    session: SessionId


class WhyNotRun(Struct, frozen=True):
    """Why this process cannot run the session: no folder, no agent, no key. None if it can.

    Only a host can answer, for itself.
    """

    session: SessionId


Query = ListSessions | ShowSession | ReadMessages | ExportSession | WhyNotRun
