"""Live updates: streamed text and output that surfaces show as they arrive.

Live updates may get lost, so nothing relies on them; the durable event replaces them.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from coderelay.protocol.ids import CallId, MessageId
from coderelay.protocol.translatable import Translatable, keep_templates


class TextDelta(Struct, frozen=True, tag="text", omit_defaults=True):
    """A piece of a message. If it is `kept`, the log gets it too (partials.kept)."""

    message_id: MessageId
    text: str
    kept: bool = False


class ThinkingDelta(Struct, frozen=True, tag="thinking", omit_defaults=True):
    """A piece of what the model thinks, like TextDelta."""

    message_id: MessageId
    text: str
    kept: bool = False


class OutputDelta(Struct, frozen=True, tag="output"):
    """Output of a call's command while it runs. If there is too much of it, the oldest part is left out."""

    call_id: CallId
    text: str


class Notice(Struct, frozen=True, tag="notice", omit_defaults=True):
    """A message for people that changes nothing. `said` is the `text` with its template and values."""

    text: str
    said: Translatable | None = None

    def __post_init__(self) -> None:
        keep_templates(self, "text")


Live = TextDelta | ThinkingDelta | OutputDelta | Notice

Placed = tuple[int, Live]
"""A live update and the number of the event that it follows."""


def join(pieces: Iterable[Placed]) -> list[Placed]:
    """Merge adjacent updates of one kind that belong to the same message or call, so that fewer updates carry the
    same content."""
    joined: list[Placed] = []
    texts: list[str] = []
    for after, live in pieces:
        if joined and _continues(joined[-1], after, live):
            texts.append(live.text)
            continue
        _finish(joined, texts)
        joined.append((after, live))
        texts = [live.text]
    _finish(joined, texts)
    return joined


def about(live: TextDelta | ThinkingDelta | OutputDelta) -> MessageId | CallId:
    """The id of the message or call that an update belongs to."""
    return live.call_id if isinstance(live, OutputDelta) else live.message_id


def _continues(last: Placed, after: int, live: Live) -> bool:
    stamp, before = last
    if isinstance(live, Notice) or isinstance(before, Notice):
        return False
    return stamp == after and type(before) is type(live) and about(before) == about(live)


def _finish(joined: list[Placed], texts: list[str]) -> None:
    if len(texts) > 1:
        after, live = joined[-1]
        joined[-1] = (after, replace(live, text="".join(texts)))
