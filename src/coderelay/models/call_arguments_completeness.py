"""Whether the arguments of a call, which arrive in pieces, are complete."""

import msgspec


def is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
