"""Helpers of the decoders of streams: broken events, JSON, pieces joined."""

import msgspec

from coderelay.protocol.errors import ModelFailed


def broken_event(why: object) -> ModelFailed:
    return ModelFailed(f"the model server sent a broken event: {why}", retryable=True)


def broken_off() -> ModelFailed:
    return ModelFailed("the model server broke off mid-answer", retryable=True)


def is_json(text: str) -> bool:
    """Whether the arguments of a call are complete."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def drain(pieces: list[str]) -> str:
    """Empty a list of new pieces, and return them as one text."""
    text = "".join(pieces)
    pieces.clear()
    return text
