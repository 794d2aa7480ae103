"""The error tree.

CoderError
├── Refusal               expected; the person or program asking can act on it
│   ├── BadInput          what was given is wrong: names it, and what is right
│   ├── UnknownSession
│   ├── UnknownAsk
│   ├── UnknownApproval
│   ├── CannotRun         nothing here can run this session (no key, no folder, no agent)
│   └── NoRepository  TooMuch    (workspace) nothing to undo or compare with
├── StoreFailed           the log cannot be used; nothing was changed
│   ├── StoreDamaged  StoreNewer  StoreLocked  StoreReadOnly  StoreFull
├── HeadMoved             somebody appended first: read the tail and decide again
├── Fenced                somebody else owns the session now: stop at once
├── ModelFailed           the provider failed or refused
├── GitFailed             (workspace) git could not do it
├── ToolFailed            a tool reports an error; becomes a result, never ends a turn
└── MustAsk               a call found, before it had any effect, that it must ask first
"""

from coderelay.protocol.translatable import join_texts, say


class CoderError(Exception):
    """`message` says what is wrong; `hint` what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return join_texts("\n", (self.message, self.hint))


class Refusal(CoderError):
    pass


class BadInput(Refusal):
    pass


class UnknownSession(Refusal):
    def __init__(self, session: str) -> None:
        super().__init__(
            say("Unknown session {session}", session=session), "`coder sessions list` shows the sessions there are."
        )
        self.session = session


class UnknownAsk(Refusal):
    def __init__(self, ask: str) -> None:
        super().__init__(say("Unknown ask {ask}", ask=ask))
        self.ask = ask


class UnknownApproval(Refusal):
    def __init__(self, approval: str) -> None:
        super().__init__(
            say("Unknown approval {approval}", approval=approval), "`coder permissions list` shows those there are."
        )


class CannotRun(Refusal):
    pass


class StoreFailed(CoderError):
    pass


class StoreDamaged(StoreFailed):
    pass


class StoreNewer(StoreFailed):
    pass


class StoreLocked(StoreFailed):
    pass


class StoreReadOnly(StoreFailed):
    pass


class StoreFull(StoreFailed):
    pass


class HeadMoved(CoderError):
    def __init__(self, session: str, expected: int, head: int) -> None:
        super().__init__(f"session {session} is at {head}, not at {expected}")
        self.head = head


class Fenced(CoderError):
    def __init__(self, session: str, epoch: int, current: int) -> None:
        super().__init__(f"session {session} is owned at epoch {current}; epoch {epoch} may not write")
        self.current = current


class ModelFailed(CoderError):
    """`status` is the HTTP status, if there was an answer; `retryable` whether trying again may help, and
    `retry_after` the seconds to wait before it if the server said so; `too_long` that the request is more than
    the model can take; `what` is what the server did, without its name, if the message says no more than that."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        too_long: bool = False,
        hint: str = "",
        what: str = "",
    ) -> None:
        super().__init__(message, hint)
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        self.too_long = too_long
        self.what = what


class ToolFailed(CoderError):
    """The `summary` is the first line of the message. What else the model is told is given as `detail`."""

    def __init__(self, message: str, hint: str = "", *, detail: str = "") -> None:
        super().__init__(f"{message}\n{detail}" if detail else message, hint)
        self.summary = message if "\n" not in message else message.partition("\n")[0]


class MustAsk(CoderError):
    """Raised by a tool that has not acted yet. Its batch waits for a person, then the call starts anew."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
