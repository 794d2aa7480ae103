"""How an exchange goes wrong."""


class Broken(Exception):
    """The other side misbehaved. `what` ends a sentence that begins with its name: "was silent for 300 s".

    `who` is that name if it is not the server's own, so that a failing proxy is not taken for the server.
    """

    def __init__(self, what: str, *, who: str = "", hint: str = "", retryable: bool = True) -> None:
        super().__init__(what)
        self.what = what
        self.who = who
        self.hint = hint
        self.retryable = retryable


class Unanswered(Broken):
    """The connection ended before the first byte of an answer."""

    def __init__(self) -> None:
        super().__init__("closed the connection without an answer")
