"""How a server goes wrong. `what` ends a sentence that begins with its name: "did not answer within 30 s"."""

_SAID_CHARS = 2000


class ServerFailed(Exception):
    """`sent`: it may have acted on what it was asked. Some of `what` is the server's own words, of which nothing is
    left that a terminal would obey."""

    def __init__(self, what: str, *, sent: bool = False) -> None:
        self.what = "".join(each if each.isprintable() or each in "\n\t" else "\ufffd" for each in what)
        super().__init__(self.what)
        self.sent = sent


class TooOften(ServerFailed):
    """It is not started again for now."""


class Refused(ServerFailed):
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
