"""A cache of encoded messages: a long history costs a copy at every step, not an encoding."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from coderelay.session.model_messages import Message

Part = TypeVar("Part")


class EncodedHistory(Generic[Part]):
    """Keeps the encoded form of each message, for as long as the next history begins with the same objects."""

    def __init__(self, encode: Callable[[Message], Part]) -> None:
        self._encode = encode
        self._messages: list[Message] = []
        self._parts: list[Part] = []

    def parts(self, messages: Sequence[Message]) -> list[Part]:
        same = 0
        for known, message in zip(self._messages, messages, strict=False):
            if known is not message:
                break
            same += 1
        del self._messages[same:], self._parts[same:]
        for message in messages[same:]:
            self._messages.append(message)
            self._parts.append(self._encode(message))
        return self._parts
