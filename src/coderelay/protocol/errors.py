"""The exceptions that coderelay raises, as one tree.

CoderError
├── Refusal               expected; the person or program that asked can act on it
│   ├── BadInput          the input is invalid; the message says what is wrong and what would be valid
│   ├── UnknownSession
│   ├── UnknownAsk
│   ├── UnknownApproval
│   ├── CannotRun         this process cannot run the session (no key, no folder, no agent)
│   └── NoRepository  TooMuch    (workspace) there is nothing to undo or to compare with
├── StoreFailed           the log cannot be used; nothing was changed
│   ├── StoreDamaged  StoreNewer  StoreLocked  StoreReadOnly  StoreFull
├── HeadMoved             another writer appended first: read the new events and decide again
├── Fenced                another process owns the session now: stop at once
├── ModelFailed           the provider failed or refused
├── GitFailed             (workspace) a git command failed
├── ToolFailed            a tool reports an error; it becomes the result of the call and never ends a turn
└── MustAsk               a call found, before it had any effect, that it needs permission first
"""

from coderelay.protocol.translatable import join_texts, say


class CoderError(Exception):
    """Base class. `message` says what is wrong, `hint` says what to do about it."""

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
        super().__init__(say("no session {name}", name=repr(session)), "`coder sessions` lists all sessions.")
        self.session = session


class UnknownAsk(Refusal):
    def __init__(self, ask: str) -> None:
        super().__init__(say("Unknown ask {ask}", ask=ask))
        self.ask = ask


class UnknownApproval(Refusal):
    def __init__(self, approval: str) -> None:
        super().__init__(
            say("Unknown approval {approval}", approval=approval), "`coder permissions list` lists all approvals."
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
        super().__init__(
            say("session {session} is at {head}, not at {expected}", session=session, head=head, expected=expected)
        )
        self.head = head


class Fenced(CoderError):
    def __init__(self, session: str, epoch: int, current: int) -> None:
        super().__init__(
            say(
                "session {session} is owned at epoch {current}; epoch {epoch} may not write",
                session=session,
                current=current,
                epoch=epoch,
            )
        )
        self.current = current


class ModelFailed(CoderError):
    """The provider failed or refused. `status` is the HTTP status if there was a response. `retryable` says whether a
    retry may help, and `retry_after` is the number of seconds to wait before it, if the server gave one. `too_long`
    means that the request exceeds the model's context window, `is_off` that no server is running at an address on
    this machine. `what` is what the server did, without the server's name; it is set only if the message says no more
    than that."""

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
        is_off: bool = False,
    ) -> None:
        super().__init__(message, hint)
        self.is_off = is_off
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        self.too_long = too_long
        self.what = what


class ToolFailed(CoderError):
    """A tool reports an error. `summary` is the first line of `message`; `detail` is further text for the model."""

    def __init__(self, message: str, hint: str = "", *, detail: str = "", missing: bool = False) -> None:
        super().__init__(f"{message}\n{detail}" if detail else message, hint)
        self.missing = missing
        self.summary = message if "\n" not in message else message.partition("\n")[0]


class MustAsk(CoderError):
    """Raised by a tool that has not acted yet. Its batch waits for a person's answer, then the call starts again from
    the beginning."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
