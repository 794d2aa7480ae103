"""The three forms of output: text, json, stream-json."""

import sys
from typing import Any, Literal, Protocol, TextIO

import msgspec

from coderelay.client.language import retell
from coderelay.client.todos import lists_in
from coderelay.client.views import cowork
from coderelay.client.views.partials import Partials
from coderelay.protocol.calls import Finished, one_line
from coderelay.protocol.content import text_of
from coderelay.protocol.events import BatchOpened, CallEnded, CallStarted, MessageAdded, Recorded, TurnEnded
from coderelay.protocol.ids import CallId, SessionId
from coderelay.protocol.live import Live, Notice, TextDelta, ThinkingDelta
from coderelay.protocol.translatable import encode_plain

Form = Literal["text", "json", "stream-json"]


class Output(Protocol):
    def event(self, recorded: Recorded) -> None: ...
    def live(self, live: Live) -> None: ...
    def finish(self, ended: Recorded) -> None:
        """The turn this run is about has ended."""
        ...


def open_output(form: Form, session: SessionId) -> Output:
    match form:
        case "text":
            return TextOutput(sys.stdout, sys.stderr)
        case "json":
            return JsonOutput(sys.stdout)
        case "stream-json":
            return StreamJsonOutput(sys.stdout, session)


class TextOutput:
    """The final answer on stdout. What is going on meanwhile, and what went wrong, on stderr."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out = out
        self._err = err
        self._titles: dict[CallId, str] = {}
        self._lists: dict[CallId, list[str]] = {}
        self._progress = err.isatty()

    def event(self, recorded: Recorded) -> None:
        match recorded.event:
            case MessageAdded() as event:
                self._lists |= lists_in(event)
                if event.author == "workflow" and (text := text_of(event.blocks)):
                    self._err.write(f"coder: {text}\n")
            case BatchOpened() as event:
                self._titles.update({each.call_id: f"{each.need.tool} {each.need.title}" for each in event.judged})
            case CallStarted() as event:
                self._say(f"• {_line(self._titles.get(event.call_id, ''))}")
            case CallEnded() as event:
                self._say(f"  {retell(one_line(event.outcome))}")
                for line in self._lists.pop(event.call_id, ()) if isinstance(event.outcome, Finished) else ():
                    self._say(f"  {line}")
            case _:
                pass

    def live(self, live: Live) -> None:
        if isinstance(live, Notice):
            self._err.write(f"coder: {retell(live.text, live.said)}\n")

    def finish(self, ended: Recorded) -> None:
        event = ended.event
        assert isinstance(event, TurnEnded)
        if event.text:
            self._out.write(event.text if event.text.endswith("\n") else event.text + "\n")
            self._out.flush()
        if event.error:
            self._err.write(f"coder: {retell(event.error, event.said)}\n")

    def _say(self, line: str) -> None:
        if self._progress:
            self._err.write(line + "\n")


class Silence:
    """For when nobody reads any more."""

    def event(self, recorded: Recorded) -> None:
        pass

    def live(self, live: Live) -> None:
        pass

    def finish(self, ended: Recorded) -> None:
        pass


class JsonOutput(Silence):
    """One object at the end: the result."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def finish(self, ended: Recorded) -> None:
        for message in cowork.messages(ended):
            _write_line(self._out, message)


class StreamJsonOutput:
    """One message per line, as it happens."""

    def __init__(self, out: TextIO, session: SessionId) -> None:
        self._out = out
        self._partials = Partials(session)

    def event(self, recorded: Recorded) -> None:
        if isinstance(recorded.event, MessageAdded | TurnEnded):
            self._write(self._partials.finish())
        self._write([each for each in cowork.messages(recorded) if each["type"] != "user_prompt"])

    def live(self, live: Live) -> None:
        if isinstance(live, TextDelta | ThinkingDelta):
            self._write(self._partials.grow(live))

    def finish(self, ended: Recorded) -> None:
        pass  # the result was written as an event like the others

    def _write(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            _write_line(self._out, message)


def _write_line(out: TextIO, message: dict[str, Any]) -> None:
    out.write(msgspec.json.encode(message, enc_hook=encode_plain).decode() + "\n")
    out.flush()


def _line(text: str) -> str:
    first, _, more = text.partition("\n")
    return f"{first} …" if more else first
