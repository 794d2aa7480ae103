"""Error messages for people: the message and hint of a CoderError, in their language."""

from coderelay.client.i18n import retell
from coderelay.protocol.errors import CoderError


def error_in_words(error: CoderError) -> str:
    return "\n".join(retell(part) for part in (error.message, error.hint) if part)
