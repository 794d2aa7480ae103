"""What is shown while it happens and never relied upon; the durable event replaces it."""

from msgspec import Struct

from coderelay.protocol.ids import MessageId


class TextDelta(Struct, frozen=True, tag="text"):
    message_id: MessageId
    text: str


class ThinkingDelta(Struct, frozen=True, tag="thinking"):
    message_id: MessageId
    text: str


class Notice(Struct, frozen=True, tag="notice"):
    """Something a person may want to know; it changes nothing."""

    text: str


Live = TextDelta | ThinkingDelta | Notice
