"""What a client did that a strict provider would not accept."""

from msgspec import Struct


class Violation(Struct, frozen=True):
    message: str
    param: str | None = None  # where in the request, e.g. `messages[2].tool_call_id`
    status: int = 400
    code: str | None = None


class Refused(Exception):
    """Raised where the rule is broken; the server answers with it and remembers it."""

    def __init__(self, message: str, param: str | None = None, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.violation = Violation(message=message, param=param, status=status, code=code)
