"""One message of the model while it comes: thoughts and text in turn, printed as far as they are finished."""

from coderelay.client.language import t
from coderelay.protocol.ids import MessageId
from coderelay.protocol.live import TextDelta, ThinkingDelta
from coderelay.surfaces.terminal.drawing.markdown_stream import Written
from coderelay.surfaces.terminal.drawing.notices import note
from coderelay.surfaces.terminal.drawing.thinking import Thought


class Streamed:
    def __init__(self, message_id: MessageId) -> None:
        self.message_id = message_id
        self._part: Written | Thought | None = None
        self._text: list[str] = []
        self._thinking: list[str] = []

    def feed(self, live: TextDelta | ThinkingDelta, width: int) -> str:
        """What is finished now."""
        heard, kind = (self._text, Written) if isinstance(live, TextDelta) else (self._thinking, Thought)
        heard.append(live.text)
        before = ""
        if not isinstance(self._part, kind):
            before = self._end_part(width)
            self._part = kind()
        self._part.feed(live.text)
        return before + self._part.take_finished(width)

    def tail(self, width: int, rows: int) -> str:
        return self._part.tail(width, rows) if self._part is not None else ""

    def finish(self, thinking: str, text: str, width: int) -> str | None:
        """The rest of the finished message. None if that is not how it began, so it must be told as a whole."""
        heard, thought = "".join(self._text), "".join(self._thinking)
        if thinking != thought or not text.startswith(heard):
            return None
        missing = text[len(heard) :]
        told = self.feed(TextDelta(self.message_id, missing), width) if missing else ""
        return told + self._end_part(width)

    def cut_off(self, width: int) -> str:
        rest = self._end_part(width)
        return rest + note(t("cut off"), width)

    def _end_part(self, width: int) -> str:
        part, self._part = self._part, None
        return part.finish(width) if part is not None else ""
