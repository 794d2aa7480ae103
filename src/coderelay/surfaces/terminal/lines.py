"""A plain line loop: one line in, one turn, its answer out."""

import asyncio
import signal
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing

from coderelay.client.client import Client
from coderelay.client.slash import Prompted, Shell, Slash, classify
from coderelay.protocol.asks import Allow, Ask, By, Decision, Deny, DenyAndStop
from coderelay.protocol.calls import one_line
from coderelay.protocol.commands import AnswerAsk, Answered, SendPrompt, StopTurn
from coderelay.protocol.content import text_of
from coderelay.protocol.events import (
    BatchOpened,
    CallEnded,
    CallStarted,
    MessageAdded,
    Recorded,
    SessionDeleted,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import CallId, PromptId, SessionId, new_id
from coderelay.protocol.live import Live, Notice, TextDelta
from coderelay.protocol.queries import ShowSession

_HELP = """\
Enter sends the line. Ctrl-C stops the turn. Ctrl-D on an empty line leaves; the session stays.
/help shows this."""


class LineLoop:
    def __init__(self, client: Client, session: SessionId, by: By) -> None:
        self._client = client
        self._session = session
        self._by = by
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._interactive = sys.stdin.isatty()
        self._titles: dict[CallId, str] = {}
        self._shown: str | None = None

    async def run(self, after: int) -> int:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, lambda: asyncio.ensure_future(self._stop()))
        # A daemon, because a thread that waits for a line cannot be ended.
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()
        summary = await self._client.get(ShowSession(self._session))
        _print(f"coder · {summary.model} · {summary.mode} · {summary.cwd}\nsession {self._session}\n")
        async with aclosing(self._client.follow(self._session, after)) as feed:
            if summary.turn_open:
                _print("(carrying on what was cut off)\n")
                await self._show_turn(feed)
            while (line := await self._next_line("> ")) is not None:
                if await self._take(line) and not await self._show_turn(feed):
                    break
        return 0

    async def _take(self, line: str) -> bool:
        """Whether a turn was asked for."""
        match classify(line):
            case Prompted(text) if text:
                prompt_id = PromptId(new_id())
                await self._client.send(
                    SendPrompt(session=self._session, prompt_id=prompt_id, text=text, by=self._by)
                )
                return True
            case Slash(name="help"):
                _print(_HELP + "\n")
            case Slash(name):
                _print(f"unknown command /{name}; /help shows what there is\n")
            case Shell():
                _print("shell commands with ! are not available in the plain line loop\n")
            case _:
                pass
        return False

    async def _show_turn(self, feed: AsyncGenerator[Recorded | Live, None]) -> bool:
        """Draw until the turn has ended. False if the session is gone."""
        async for each in feed:
            if not isinstance(each, Recorded):
                self._show_live(each)
                continue
            match each.event:
                case TurnEnded() as event:
                    self._show_end(event)
                    return True
                case SessionDeleted():
                    _print("the session was deleted\n")
                    return False
                case BatchOpened() as event:
                    self._titles.update({j.call_id: f"{j.need.tool} {j.need.title}" for j in event.judged})
                    for ask in [j.ask for j in event.judged if j.ask is not None]:
                        await self._ask(ask)
                case _:
                    self._show_event(each)
        return False

    def _show_live(self, live: Live) -> None:
        match live:
            case TextDelta():
                self._shown = live.message_id
                _print(live.text)
            case Notice():
                _print(f"({live.text})\n")
            case _:
                pass

    def _show_event(self, recorded: Recorded) -> None:
        match recorded.event:
            case MessageAdded() as event:
                text = text_of(event.blocks)
                _print(("" if self._shown == event.message_id else text) + ("\n" if text else ""))
            case CallStarted() as event:
                _print(f"• {self._titles.get(event.call_id, '')}\n")
            case CallEnded() as event:
                _print(f"  {one_line(event.outcome)}\n")
            case TurnStarted() as event if not self._interactive:
                _print(f"> {event.text}\n")
            case _:
                pass

    def _show_end(self, event: TurnEnded) -> None:
        if event.ending != "done":
            _print(f"({event.error or event.ending})\n")

    async def _ask(self, ask: Ask) -> None:
        decision = await self._decision(ask) if self._interactive else Deny("nobody was there to allow it")
        command = AnswerAsk(session=self._session, ask=ask.id, decision=decision, by=self._by)
        outcome = await self._client.send(command)
        if isinstance(outcome, Answered) and outcome.by is not None:
            _print(f"(answered in {outcome.by.via} by {outcome.by.who})\n")

    async def _decision(self, ask: Ask) -> Decision:
        """A piped line is never an answer, so this is only reached at a terminal."""
        _print(f"{ask.need.tool} wants: {ask.need.title}\n  {ask.reason}\n")
        while (line := await self._next_line("allow? y / n / s(top) > ")) is not None:
            match line.strip().lower():
                case "y" | "yes":
                    return Allow()
                case "n" | "no":
                    return Deny()
                case "s" | "stop":
                    return DenyAndStop()
                case _:
                    continue
        return Deny("the person left")

    async def _stop(self) -> None:
        await self._client.send(StopTurn(session=self._session, by=self._by))

    async def _next_line(self, prompt: str) -> str | None:
        if self._interactive:
            _print(prompt)
        return await self._lines.get()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        while line := sys.stdin.readline():
            loop.call_soon_threadsafe(self._lines.put_nowait, line.rstrip("\n"))
        loop.call_soon_threadsafe(self._lines.put_nowait, None)


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
