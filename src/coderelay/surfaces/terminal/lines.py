"""A plain line loop. Lines and events arrive in one inbox; each is dealt with at once, so that a line
can be an answer, a prompt or a prompt for later, and an ask can be answered elsewhere meanwhile."""

import asyncio
import signal
import sys
import threading
from contextlib import aclosing
from typing import Literal

from coderelay.client.asking import choices, in_words, understand
from coderelay.client.client import Client
from coderelay.client.family import follow_family
from coderelay.client.session_commands import RememberModel, SessionCommands
from coderelay.client.slash import Prompted, Shell, Slash, classify
from coderelay.client.todos import lists_in
from coderelay.protocol import background
from coderelay.protocol.asks import Ask, By, Decision, Deny, DenyAndStop, PlanAsk, PlanDecision, QuestionAsk
from coderelay.protocol.calls import Finished, one_line
from coderelay.protocol.commands import AnswerAsk, SendPrompt, StopTurn
from coderelay.protocol.content import text_of
from coderelay.protocol.errors import BadInput, CoderError
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    AskOpened,
    BackgroundEnded,
    BatchOpened,
    CallAsked,
    CallEnded,
    CallStarted,
    HistoryCompacted,
    MessageAdded,
    PromptRecalled,
    PromptTaken,
    Recorded,
    SessionCreated,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    TurnProlonged,
    TurnStarted,
    TurnUndone,
)
from coderelay.protocol.ids import AskId, CallId, PromptId, SessionId, new_id
from coderelay.protocol.live import Live, Notice, TextDelta
from coderelay.protocol.queries import ListAsks, ShowPermissions, ShowSession
from coderelay.protocol.summary import Summary

_KEYS = """\
Enter sends the line; while a turn runs, it is queued behind it. Ctrl-C stops the turn.
Ctrl-D on an empty line leaves; the session stays.

"""


WhileRunning = Literal["queue", "steer", "stop", "ignore"]


class _Line(str):
    pass


class _End:
    """No more lines will come."""


_Item = _Line | _End | Recorded | Live | CoderError


class LineLoop:
    def __init__(self, client: Client, session: SessionId, by: By, remember_model: RememberModel) -> None:
        self._commands = SessionCommands(client, session, by, remember_model, self._expect)
        self._client = client
        self._session = session
        self._by = by
        self._inbox: asyncio.Queue[_Item] = asyncio.Queue()
        self._interactive = sys.stdin.isatty()
        self._titles: dict[CallId, str] = {}
        self._lists: dict[CallId, list[str]] = {}
        self._asks: list[Ask] = []
        self._askers: dict[AskId, SessionId] = {}
        self._names: dict[SessionId, str] = {}
        self._given: list[str] = []
        self._outstanding: set[PromptId] = set()
        self._turn: PromptId | None = None
        self._carrying_on = False
        self._streamed: str | None = None
        self._within_line = False
        self._leaving = False
        self._while_running: WhileRunning = "queue"

    async def run(self, after: int, while_running: WhileRunning = "queue") -> int:
        self._while_running = while_running
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, lambda: asyncio.ensure_future(self._stop()))
        sandbox = (await self._client.get(ShowPermissions(self._session))).sandbox
        self._greet(await self._client.get(ShowSession(self._session)), sandbox)
        # A daemon, because a thread that waits for a line cannot be ended.
        threading.Thread(target=self._read_lines, args=(loop,), daemon=True).start()
        follower = asyncio.create_task(self._follow(after))
        try:
            while not (self._leaving and (self._interactive or not self._busy())):
                await self._take(await self._inbox.get())
        finally:
            follower.cancel()
            await asyncio.wait({follower})
        return 0

    def _greet(self, summary: Summary, sandbox: str) -> None:
        facts = [summary.model, summary.mode, f"sandbox: {sandbox}", summary.cwd]
        _print(f"coder · {' · '.join(facts)}\nsession {self._session}\n")
        self._carrying_on = summary.turn_open
        if self._carrying_on:
            _print("(carrying on what was cut off)\n")
        else:
            self._show_prompt()

    async def _take(self, item: _Item) -> None:
        match item:
            case _Line():
                await self._take_line(item)
            case _End():
                self._leaving = True
            case Recorded() if item.session != self._session:
                await self._take_event_of_child(item)
            case Recorded():
                await self._take_event(item.event)
            case CoderError():
                raise item
            case _:
                self._show_live(item)

    async def _take_line(self, line: str) -> None:
        said = classify(line)
        is_command = isinstance(said, Slash) and said.name in self._commands.names
        if self._asks and self._interactive and not is_command:  # a piped line is never an answer
            await self._take_answer(self._asks[0], line)
            return
        match said:
            case Prompted(text) if text:
                await self._prompt(text)
                return
            case Slash() as slash:
                _print(_KEYS if slash.name == "help" else "")
                if isinstance(told := await self._command(slash), Prompted):
                    await self._prompt(told.text, line.strip())
                    self._show_ask()
                    return
                _print(f"{told}\n" if told else "")
            case Shell():
                _print("shell commands with ! are not available in the plain line loop\n")
            case _:
                pass
        self._show_ask()
        self._show_prompt()

    async def _command(self, slash: Slash) -> str | Prompted:
        try:
            return await self._commands.run(slash)
        except CoderError as error:
            return str(error)

    def _expect(self, prompt_id: PromptId) -> None:
        self._outstanding.add(prompt_id)

    async def _take_answer(self, ask: Ask, line: str) -> None:
        """Several questions are answered one line each."""
        self._given.append(line)
        if isinstance(ask, QuestionAsk) and len(self._given) < len(ask.questions) and not _refuses(line):
            _print("> ")
            return
        given, self._given = self._given, []
        try:
            await self._answer(ask, understand(ask, given))
        except BadInput as error:
            _print(f"{error.message}\n{choices(ask)} > ")

    async def _prompt(self, text: str, typed: str = "") -> None:
        prompt_id = PromptId(new_id())
        steer = False
        if self._busy() and self._interactive:
            if self._while_running == "ignore":
                _print("(left out: a turn is running)\n")
                return
            if self._while_running == "stop":
                await self._stop()
            steer = self._while_running == "steer"
            _print("(the turn hears it at its next step)\n" if steer else "(queued)\n")
        self._outstanding.add(prompt_id)
        await self._client.send(
            SendPrompt(session=self._session, prompt_id=prompt_id, text=text, typed=typed, steer=steer, by=self._by)
        )

    async def _take_event(self, event: AnyEvent) -> None:
        match event:
            case BatchOpened():
                self._titles.update({each.call_id: f"{each.need.tool} {each.need.title}" for each in event.judged})
                await self._open_asks([each.ask for each in event.judged if each.ask is not None])
            case AskOpened() | CallAsked():
                await self._open_asks([event.ask])
            case AskAnswered():
                self._close_ask(event)
            case TurnStarted():
                self._turn = event.prompt_id
                self._outstanding.add(event.prompt_id)
                _print("" if self._interactive else f"> {event.said}\n")
            case PromptTaken() | PromptRecalled():
                self._outstanding.discard(event.prompt_id)
            case TurnEnded():
                self._end_turn(event)
            case SessionDeleted():
                _print("the session was deleted\n")
                self._leaving = True
                self._outstanding.clear()
            case _:
                self._show_event(event)

    async def _take_event_of_child(self, recorded: Recorded) -> None:
        """A child's asks are put to the person here; of the rest only what it runs is shown."""
        match event := recorded.event:
            case SessionCreated():
                self._names[recorded.session] = event.title
            case BatchOpened():
                self._titles.update({each.call_id: f"{each.need.tool} {each.need.title}" for each in event.judged})
                await self._open_asks([each.ask for each in event.judged if each.ask is not None], recorded.session)
            case AskOpened() | CallAsked():
                await self._open_asks([event.ask], recorded.session)
            case AskAnswered():
                self._close_ask(event)
            case CallStarted():
                self._end_line()
                _print(f"  ↳ {self._titles.get(event.call_id, '')}\n")
            case TurnEnded() | StopRequested() | SessionDeleted():
                self._forget_asks(recorded.session)
            case _:
                pass

    def _forget_asks(self, session: SessionId) -> None:
        shown = self._asks[0].id if self._asks else None
        self._asks = [ask for ask in self._asks if self._askers[ask.id] != session]
        if shown is not None and self._askers[shown] == session:
            _print("\n(no longer asked)\n")
            self._show_ask()

    def _show_event(self, event: AnyEvent) -> None:
        match event:
            case MessageAdded(author="workflow"):
                self._end_line()
                self._lists |= lists_in(event)
                _print(f"({text})\n" if (text := text_of(event.blocks)) else "")
            case MessageAdded():
                self._lists |= lists_in(event)
                text = text_of(event.blocks)
                streamed = self._streamed == event.message_id
                self._end_line(unless=streamed and bool(text))
                _print(("" if streamed else text) + ("\n" if text else ""))
            case TurnUndone() if event.by != self._by:
                _print(f"(the last turn was undone in {event.by.via} by {event.by.who})\n")
            case HistoryCompacted():
                _print(f"(summed up)\n{event.summary}\n" if event.summary else "")
            case CallStarted():
                _print(f"• {self._titles.get(event.call_id, '')}\n")
            case CallEnded():
                _print(f"  {one_line(event.outcome)}\n")
                for line in self._lists.pop(event.call_id, ()) if isinstance(event.outcome, Finished) else ():
                    _print(f"  {line}\n")
            case TurnProlonged():
                _print(f"(going on: {event.reason})\n")
            case BackgroundEnded():
                self._end_line()
                _print(f"(background command {event.background_id} {background.in_words(event.end)})\n")
            case _:
                pass

    def _show_live(self, live: Live) -> None:
        match live:
            case TextDelta():
                self._end_line(unless=live.message_id == self._streamed)  # what was said before is void
                self._streamed = live.message_id
                self._within_line = not live.text.endswith("\n")
                _print(live.text)
            case Notice():
                self._end_line()
                _print(f"({live.text})\n")
            case _:
                pass

    def _end_line(self, *, unless: bool = False) -> None:
        """What comes next has nothing to do with what was streamed last."""
        if self._within_line and not unless:
            _print("\n")
        self._within_line = False

    async def _open_asks(self, asks: list[Ask], asker: SessionId | None = None) -> None:
        shown = bool(self._asks)
        self._askers.update({ask.id: asker or self._session for ask in asks})
        self._asks += asks
        if self._interactive:
            if asks and not shown:
                self._show_ask()
        else:
            for ask in asks:
                afterthought = isinstance(ask, PlanAsk) and ask.call_id is None
                nobody = Deny("nobody was there to allow or answer it")
                await self._answer(ask, PlanDecision("keep") if afterthought else nobody)

    def _show_ask(self) -> None:
        if self._asks:
            ask = self._asks[0]
            shown_before = isinstance(ask, PlanAsk) and ask.call_id is None  # it is what was just said
            words = "Is this plan approved?" if shown_before else in_words(ask)
            asker = self._askers[ask.id]
            whose = "" if asker == self._session else f"[task: {self._names.get(asker, asker)}] "
            _print(f"{whose}{words}\n{choices(ask)} > ")

    async def _answer(self, ask: Ask, decision: Decision) -> None:
        await self._client.send(AnswerAsk(session=self._askers[ask.id], ask=ask.id, decision=decision, by=self._by))

    def _close_ask(self, event: AskAnswered) -> None:
        shown = self._asks[0].id if self._asks else None
        self._asks = [ask for ask in self._asks if ask.id != event.ask_id]
        if event.by != self._by:
            _print(f"\n(answered in {event.by.via} by {event.by.who})\n")
        if event.ask_id == shown and not isinstance(event.decision, DenyAndStop):
            self._show_ask()

    def _end_turn(self, event: TurnEnded) -> None:
        if event.ending != "done":
            _print(f"\n({event.error or event.ending})\n")
        self._asks = []
        self._carrying_on = False
        self._outstanding.discard(self._turn or PromptId(""))
        if event.ending == "stopped" and self._outstanding:
            _print(f"({len(self._outstanding)} queued; they go on with the next line you send)\n")
            self._outstanding.clear()
        self._turn = None
        self._show_prompt()

    def _show_prompt(self) -> None:
        if self._interactive and not self._busy():
            _print("> ")

    def _busy(self) -> bool:
        return bool(self._outstanding) or self._carrying_on

    async def _stop(self) -> None:
        await self._client.send(StopTurn(session=self._session, by=self._by))

    async def _follow(self, after: int) -> None:
        try:
            for row in await self._client.get(ListAsks(self._session)):
                if row.session != self._session:  # a child has been waiting since before
                    self._names[row.session] = row.title
                    await self._open_asks([row.ask], row.session)
            async with aclosing(follow_family(self._client, self._session, after)) as feed:
                async for each in feed:
                    self._inbox.put_nowait(each)
        except CoderError as error:
            self._inbox.put_nowait(error)

    def _read_lines(self, loop: asyncio.AbstractEventLoop) -> None:
        while line := sys.stdin.readline():
            loop.call_soon_threadsafe(self._inbox.put_nowait, _Line(line.rstrip("\n")))
        loop.call_soon_threadsafe(self._inbox.put_nowait, _End())


def _refuses(line: str) -> bool:
    return line.strip().lower() in ("deny", "stop")


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
