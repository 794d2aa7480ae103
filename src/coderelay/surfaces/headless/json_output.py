"""The outputs json and stream-json of `coder -p`: messages in the form of the Cowork contract."""

from collections.abc import Sequence
from typing import Any, TextIO

import msgspec

from coderelay.client.views import cowork_messages
from coderelay.protocol.events import MessageAdded, MessageKept, Recorded, TurnEnded, TurnStarted
from coderelay.protocol.live_updates import Live, TextDelta, ThinkingDelta
from coderelay.protocol.translatable import encode_plain
from coderelay.surfaces import nonblocking_standard_streams
from coderelay.surfaces.headless.output_interface import CutShort, InitFields, ResultMessages
from coderelay.surfaces.headless.text_output_and_progress import ProgressLines


class JsonOutput:
    """Writes one JSON object, the result, at the end of the run. The agent may have handed it in before the end."""

    def __init__(self, out: TextIO, progress: ProgressLines, result: ResultMessages) -> None:
        self._out = out
        self._progress = progress
        self._result = result
        self._kept: list[str] = []

    def event(self, recorded: Recorded) -> None:
        self._result.take(recorded)
        self._progress.event(recorded)
        if isinstance(recorded.event, MessageKept) and recorded.event.is_last:
            self._kept = cowork_messages.lines(recorded)

    def child_event(self, recorded: Recorded) -> None:
        self._result.take(recorded)
        self._progress.event(recorded)

    def live(self, live: Live) -> None:
        self._progress.live(live)

    def finish(self, ended: Recorded) -> None:
        ours = cowork_messages.lines(ended) or not self._kept
        for line in [_encoded(self._result.of_turn(ended))] if ours else self._kept:
            _write_line(self._out, line)

    def cut_short(self, cut: CutShort) -> None:
        _write_line(self._out, _encoded(self._result.interrupted_result(cut)))


class StreamJsonOutput:
    """Writes one JSON message per line while the turn runs."""

    def __init__(self, out: TextIO, progress: ProgressLines, result: ResultMessages, init: InitFields) -> None:
        self._out = out
        from coderelay.client.views.cowork_stream_events import Partials  # of no other output

        self._progress = progress
        self._result = result
        self._init = init
        self._partials = Partials(result.session)

    def event(self, recorded: Recorded) -> None:
        self.child_event(recorded)
        if isinstance(recorded.event, MessageAdded | MessageKept | TurnEnded):
            self._write(self._partials.finish())
        for line in self._lines(recorded):
            _write_line(self._out, line)

    def child_event(self, recorded: Recorded) -> None:
        self._result.take(recorded)
        self._progress.event(recorded)

    def live(self, live: Live) -> None:
        if isinstance(live, TextDelta | ThinkingDelta):
            if not live.kept:  # else it comes with an event
                self._write(self._partials.grow(live))
        else:
            self._progress.live(live)

    def finish(self, ended: Recorded) -> None:
        pass  # `event` has already written the result

    def cut_short(self, cut: CutShort) -> None:
        self._write([*self._partials.finish(), self._result.interrupted_result(cut)])

    def _lines(self, recorded: Recorded) -> list[str]:
        """An agent that hands in its own messages has told of the beginning and the end of a turn by itself."""
        lines = cowork_messages.lines(recorded)
        match recorded.event:
            case TurnEnded() if lines:
                return [_encoded(self._result.of_turn(recorded))]
            case TurnStarted() as event if lines:
                init, more = msgspec.json.decode(lines[0]), self._init(event.model, event.cwd)
                return [_encoded(init | more | {"mcp_servers": _servers(more["mcp_servers"], init["mcp_servers"])})]
            case _:
                return lines

    def _write(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            _write_line(self._out, _encoded(message))


def _servers(configured: Sequence[str], connected: list[dict[str, str]]) -> list[dict[str, str]]:
    known = [each["name"] for each in connected]
    return connected + [{"name": each, "status": "pending"} for each in configured if each not in known]


def _encoded(message: dict[str, Any]) -> str:
    return msgspec.json.encode(message, enc_hook=encode_plain).decode()


def _write_line(out: TextIO, line: str) -> None:
    nonblocking_standard_streams.write_json(out, line)
