"""The three forms of output: text, json, stream-json."""

import asyncio
import sys
from contextlib import aclosing, suppress
from typing import Any, Literal, Protocol, TextIO

import msgspec

from coderelay.client.client import Client
from coderelay.client.commands.show import lists_in
from coderelay.client.language import retell
from coderelay.client.views import cowork
from coderelay.client.views.partials import Partials
from coderelay.protocol.calls import Finished, one_line
from coderelay.protocol.content import text_of
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import (
    BatchOpened,
    CallEnded,
    CallStarted,
    MessageAdded,
    Recorded,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import CallId, MessageId, PromptId, SessionId, TurnId
from coderelay.protocol.live import Live, Notice, TextDelta, ThinkingDelta
from coderelay.protocol.translatable import encode_plain
from coderelay.surfaces import standard_streams

Form = Literal["text", "json", "stream-json"]
_FEW_WAITING = standard_streams.MOST_WAITING // 4


class PromptOutput(Protocol):
    def event(self, recorded: Recorded) -> None: ...
    def live(self, live: Live) -> None: ...
    def finish(self, ended: Recorded) -> None:
        """The turn this run is about has ended."""
        ...


def open_output(form: Form, session: SessionId) -> PromptOutput:
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


class PacedOutput:
    """Shows what a session records, and never makes the session wait. While the reader is behind, pieces of
    unfinished messages are left out, and events are read again from the log when the reader has taken what there
    was. So memory stays bounded, and no event is missing in the end."""

    def __init__(self, client: Client, session: SessionId, prompt_id: PromptId, output: PromptOutput) -> None:
        self._client = client
        self._session = session
        self._prompt_id = prompt_id
        self._output = output
        self._turn: TurnId | None = None
        self._shown = 0  # the number of the last event that the output has
        self._last = 0  # the number of the last event that there is
        self._cut: MessageId | None = None
        self._catching_up: asyncio.Task[None] | None = None

    def begin(self, after: int) -> None:
        """The output is for events behind this one."""
        self._shown = self._last = after

    def take(self, each: Recorded | Live) -> None:
        """Raises BrokenPipeError if nobody reads any more."""
        if not isinstance(each, Recorded):
            self._show_live(each)
        elif each.session == self._session:  # what a child does is its own; its parent's call says what came of it
            self._last = each.seq
            if self._catching_up is not None and self._catching_up.done():
                self._catching_up.result()
                self._catching_up = None
            if self._catching_up is None and self._is_behind():
                self._catching_up = asyncio.create_task(self._catch_up())
            if self._catching_up is None:
                self._show(each)

    async def finish(self) -> None:
        """Until everything is shown that was recorded. Raises BrokenPipeError if nobody reads any more."""
        if self._catching_up is not None:
            await self._catching_up

    def silence(self) -> None:
        self._output = Silence()

    def _show(self, recorded: Recorded) -> None:
        self._shown = recorded.seq
        self._output.event(recorded)
        match recorded.event:
            case TurnStarted(prompt_id=prompt_id, turn_id=turn_id) if prompt_id == self._prompt_id:
                self._turn = turn_id
            case TurnEnded(turn_id=turn_id) if turn_id == self._turn:
                self._output.finish(recorded)
            case _:
                pass

    def _show_live(self, live: Live) -> None:
        """A message of which a piece was left out is shown when it is whole."""
        message = live.message_id if isinstance(live, TextDelta | ThinkingDelta) else None
        if self._catching_up is not None or self._is_behind():
            self._cut = message or self._cut
        elif message is None or message != self._cut:
            self._output.live(live)

    async def _catch_up(self) -> None:
        while self._shown < self._last:
            await standard_streams.taken_down_to(_FEW_WAITING)
            with suppress(UnknownSession):  # deleted, and with it what was to be shown
                if await self._read_on():
                    continue
            return

    async def _read_on(self) -> bool:
        """Show what the log holds until the reader is behind again. False if the log has ended."""
        async with aclosing(self._client.follow(self._session, self._shown)) as feed:
            async for each in feed:
                if isinstance(each, Recorded):
                    self._show(each)
                if self._shown >= self._last or self._is_behind():
                    return True
        return False

    def _is_behind(self) -> bool:
        return standard_streams.waiting() > standard_streams.MOST_WAITING
