"""The exceptions of an HTTP exchange."""


class ServerMisbehaved(Exception):
    """The server or proxy misbehaved. `what` completes a sentence that begins with its name: "was silent for 300 s".

    `who` names the program that failed if it is not the server itself, so that a failure of the proxy is not blamed
    on the server. `is_off` means that no server is running there, on this machine.
    """

    def __init__(
        self, what: str, *, who: str = "", hint: str = "", retryable: bool = True, is_off: bool = False
    ) -> None:
        super().__init__(what)
        self.what = what
        self.who = who
        self.hint = hint
        self.retryable = retryable
        self.is_off = is_off


class NoResponse(ServerMisbehaved):
    """The connection ended before the first byte of a response."""

    def __init__(self) -> None:
        super().__init__("closed the connection without an answer")
