"""A plain line loop. Lines and events arrive in one inbox; each is dealt with at once, so that a line
can be an answer, a prompt or a prompt for later, and an ask can be answered elsewhere meanwhile."""

import asyncio
import signal
import sys
from contextlib import aclosing
from typing import Literal

from coderelay.client.asking import choices, in_words, refuses, understand
from coderelay.client.client import Client
from coderelay.client.errors import error_in_words
from coderelay.client.family import join_family
from coderelay.client.language import retell, t
from coderelay.client.session_commands import RememberModel, SessionCommands
from coderelay.client.slash import Left, Moved, Prompted, Shell, Slash, Told, classify
from coderelay.client.todos import lists_in
from coderelay.client.visible import visible
from coderelay.protocol import background
from coderelay.protocol.asks import By, Decision, Deny, PlanAsk, PlanDecision, QuestionAsk
from coderelay.protocol.calls import Finished, one_line
from coderelay.protocol.commands import AnswerAsk, RunShell, SendPrompt, StopTurn
from coderelay.protocol.content import text_of
from coderelay.protocol.errors import BadInput, CoderError
from coderelay.protocol.events import (
    AnyEvent,
    BackgroundEnded,
    BatchOpened,
    CallEnded,
    CallStarted,
    HistoryCompacted,
    MessageAdded,
    PromptRecalled,
    PromptTaken,
    Recorded,
    SessionDeleted,
    TurnEnded,
    TurnProlonged,
    TurnStarted,
    TurnUndone,
)
from coderelay.protocol.ids import CallId, PromptId, SessionId, new_id
from coderelay.protocol.live import Live, Notice, TextDelta
from coderelay.protocol.queries import ShowPermissions, ShowSession
from coderelay.protocol.summary import AskRow, Summary
from coderelay.surfaces.terminal.open_asks import Asked, Change, Closed, OpenAsks, Opened, Void
from coderelay.surfaces.terminal.typed_lines import End, Line, begin_reading

_KEYS = """\
Enter sends the line, and so does Ctrl+D; on an empty line Ctrl+D leaves, and the session stays.
While a turn runs, what you send is queued behind it. Ctrl+C stops the turn, in the middle of an answer too.
!COMMAND runs a command of your own, without the agent."""

WhileRunning = Literal["queue", "steer", "stop", "ignore"]


_Item = Line | End | AskRow | Recorded | Live | CoderError


class LineLoop:
    def __init__(self, client: Client, session: SessionId, by: By, remember_model: RememberModel) -> None:
        self._commands = SessionCommands(client, session, by, remember_model, self._expect, t(_KEYS))
        self._client = client
        self._session = session
        self._by = by
        self._inbox: asyncio.Queue[_Item] = asyncio.Queue()
        self._interactive = sys.stdin.isatty()
        self._titles: dict[CallId, str] = {}
        self._lists: dict[CallId, list[str]] = {}
        self._asks = OpenAsks(session)
        self._given: list[str] = []
        self._own: set[CallId] = set()  # calls that are commands of the person's own
        self._outstanding: set[PromptId] = set()
        self._turn: PromptId | None = None
        self._carrying_on = False
        self._follower: asyncio.Task[None] | None = None
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
        begin_reading(self._inbox.put_nowait, at_terminal=self._interactive)
        self._follower = asyncio.create_task(self._follow(after))
        try:
            while not (self._leaving and (self._interactive or not self._busy())):
                await self._take(await self._inbox.get())
        finally:
            await self._end_following()
        return 0

    async def _end_following(self) -> None:
        if self._follower is not None:
            self._follower.cancel()
            await asyncio.wait({self._follower})

    async def _move(self, moved: Moved) -> None:
        """What goes on in the session before goes on there, and here only the new one is shown; but who pipes lines
        wants to see each one through."""
        lines: list[_Item] = []
        while self._busy() and not self._interactive:
            item = await self._inbox.get()
            if isinstance(item, Line | End):
                lines.append(item)
            else:
                await self._take(item)
        await self._end_following()
        lines += [each for each in _emptied(self._inbox) if isinstance(each, Line | End)]
        for each in lines:
            self._inbox.put_nowait(each)
        self._session = moved.session
        self._asks = OpenAsks(moved.session)
        self._given, self._streamed, self._turn = [], None, None
        self._outstanding.clear()
        self._carrying_on = (await self._client.get(ShowSession(moved.session))).turn_open
        self._follower = asyncio.create_task(self._follow(moved.after))

    def _greet(self, summary: Summary, sandbox: str) -> None:
        facts = [summary.model, summary.mode, t("sandbox: {sandbox}", sandbox=sandbox), summary.cwd]
        _print(f"coder · {' · '.join(facts)}\n{t('session {session}', session=self._session)}\n")
        self._carrying_on = summary.turn_open
        if self._carrying_on:
            _print(t("(carrying on what was cut off)") + "\n")
        else:
            self._show_prompt()

    async def _take(self, item: _Item) -> None:
        match item:
            case Line() if not self._leaving:
                await self._take_line(item)
            case Line():
                pass
            case End():
                self._leaving = True
            case AskRow():
                await self._show_change(self._asks.put(item))
            case Recorded():
                await self._show_change(self._asks.take(item))
                if item.session == self._session:
                    self._take_event(item.event)
                else:
                    self._take_event_of_child(item.event)
            case CoderError():
                raise item
            case _:
                self._show_live(item)

    async def _take_line(self, line: str) -> None:
        said = classify(line)
        is_command = isinstance(said, Slash) and said.name in self._commands.names
        asked = self._asks.first
        if asked is not None and self._interactive and not is_command:  # a piped line is never an answer
            await self._take_answer(asked, line)
            return
        match said:
            case Prompted(text) if text:
                await self._prompt(text)
                return
            case Slash() as slash:
                if not await self._take_command(slash, line):
                    return
            case Shell(command) if self._interactive and command:
                await self._run_shell(command)
                return
            case Shell() if not self._interactive:  # from a pipe it is a text like any other
                await self._prompt(line.strip())
                return
            case _:
                pass
        self._show_ask()
        self._show_prompt()

    async def _take_command(self, slash: Slash, line: str) -> bool:
        """Whether it is the person's turn again at once."""
        match told := await self._command(slash):
            case Prompted():
                await self._prompt(told.text, line.strip())
                self._show_ask()
                return False
            case Left():
                self._leaving = True
                return False
            case Moved():
                await self._move(told)
                _print(f"{told.told}\n")
            case str():
                _print(f"{told}\n" if told else "")
        return True

    async def _command(self, slash: Slash) -> Told:
        try:
            return await self._commands.run(slash)
        except CoderError as error:
            return error_in_words(error)

    async def _run_shell(self, command: str) -> None:
        prompt_id = PromptId(new_id())
        if self._busy():
            _print(t("(queued)") + "\n")
        self._outstanding.add(prompt_id)
        await self._client.send(RunShell(session=self._session, prompt_id=prompt_id, command=command, by=self._by))

    def _expect(self, prompt_id: PromptId) -> None:
        self._outstanding.add(prompt_id)

    async def _take_answer(self, asked: Asked, line: str) -> None:
        """Several questions are answered one line each."""
        ask = asked.ask
        self._given.append(line)
        if isinstance(ask, QuestionAsk) and len(self._given) < len(ask.questions) and not refuses(line):
            _print("> ")
            return
        given, self._given = self._given, []
        try:
            await self._answer(asked, understand(ask, given))
        except BadInput as error:
            _print(f"{error.message}\n{choices(ask)} > ")

    async def _prompt(self, text: str, typed: str = "") -> None:
        prompt_id = PromptId(new_id())
        steer = False
        if self._busy() and self._interactive:
            if self._while_running == "ignore":
                _print(t("(left out: a turn is running)") + "\n")
                return
            if self._while_running == "stop":
                await self._stop()
            steer = self._while_running == "steer"
            _print((t("(the turn hears it at its next step)") if steer else t("(queued)")) + "\n")
        self._outstanding.add(prompt_id)
        await self._client.send(
            SendPrompt(session=self._session, prompt_id=prompt_id, text=text, typed=typed, steer=steer, by=self._by)
        )

    def _take_event(self, event: AnyEvent) -> None:
        match event:
            case BatchOpened():
                self._name_calls(event)
            case TurnStarted():
                self._turn = event.prompt_id
                self._outstanding.add(event.prompt_id)
                _print("" if self._interactive else f"> {event.said}\n")
            case PromptTaken() | PromptRecalled():
                self._outstanding.discard(event.prompt_id)
            case TurnEnded():
                self._end_turn(event)
            case SessionDeleted():
                _print(t("the session was deleted") + "\n")
                self._leaving = True
                self._outstanding.clear()
            case _:
                self._show_event(event)

    def _take_event_of_child(self, event: AnyEvent) -> None:
        """A child's asks are put to the person here; of the rest only what it runs is shown."""
        match event:
            case BatchOpened():
                self._name_calls(event)
            case CallStarted():
                self._end_line()
                _print(f"  ↳ {self._titles.get(event.call_id, '')}\n")
            case _:
                pass

    def _name_calls(self, batch: BatchOpened) -> None:
        self._titles.update({each.call_id: f"{each.need.tool} {each.need.title}" for each in batch.judged})

    def _show_event(self, event: AnyEvent) -> None:
        match event:
            case MessageAdded(author="person"):
                self._own.update(call.id for call in event.calls)
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
                _print(t("(the last turn was undone in {via} by {who})", via=event.by.via, who=event.by.who) + "\n")
            case HistoryCompacted():
                _print(f"{t('(summed up)')}\n{event.summary}\n" if event.summary else "")
            case CallStarted() if event.call_id not in self._own:
                _print(f"• {self._titles.get(event.call_id, '')}\n")
            case CallEnded(outcome=Finished() as done) if event.call_id in self._own:
                code = f"({t('exit code {code}', code=done.exit_code)})\n" if done.exit_code else ""
                _print("".join(_whole(each) for each in (done.output, done.errors)) + code)
            case CallEnded():
                _print(f"  {retell(one_line(event.outcome))}\n")
                for line in self._lists.pop(event.call_id, ()) if isinstance(event.outcome, Finished) else ():
                    _print(f"  {line}\n")
            case TurnProlonged():
                _print(t("(going on: {reason})", reason=retell(event.reason)) + "\n")
            case BackgroundEnded():
                self._end_line()
                how = retell(background.in_words(event.end))
                _print(t("(background command {id} {how})", id=event.background_id, how=how) + "\n")
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
                _print(f"({retell(live.text)})\n")
            case _:
                pass

    def _end_line(self, *, unless: bool = False) -> None:
        """What comes next has nothing to do with what was streamed last."""
        if self._within_line and not unless:
            _print("\n")
        self._within_line = False

    async def _show_change(self, change: Change | None) -> None:
        match change:
            case Opened(asked) if not self._interactive:
                for each in asked:
                    afterthought = isinstance(each.ask, PlanAsk) and each.ask.call_id is None
                    nobody = Deny("nobody was there to allow or answer it")
                    await self._answer(each, PlanDecision("keep") if afterthought else nobody)
            case Opened(asked):
                if asked[0] is self._asks.first:
                    self._show_ask()
            case Closed():
                if change.by != self._by:
                    told = t("(answered in {via} by {who})", via=change.by.via, who=change.by.who)
                    _print(f"\n{told}\n")
                if change.was_first:
                    self._show_ask()
            case Void(asked):
                if asked[0].session != self._session:  # of its own turn more is told
                    _print(f"\n{t('(no longer asked)')}\n")
                    self._show_ask()
            case None:
                pass

    def _show_ask(self) -> None:
        if (asked := self._asks.first) is None:
            return
        ask = asked.ask
        shown_before = isinstance(ask, PlanAsk) and ask.call_id is None and self._turn is not None
        words = t("Is this plan approved?") if shown_before else in_words(ask)  # it is what was just said
        whose = t("[task: {title}] ", title=" ".join(asked.task.split())) if asked.task else ""
        _print(f"{whose}{words}\n{choices(ask)} > ")

    async def _answer(self, asked: Asked, decision: Decision) -> None:
        await self._client.send(AnswerAsk(session=asked.session, ask=asked.ask.id, decision=decision, by=self._by))

    def _end_turn(self, event: TurnEnded) -> None:
        if event.ending != "done":
            _print(f"\n({retell(event.error or event.ending)})\n")
        self._carrying_on = False
        self._outstanding.discard(self._turn or PromptId(""))
        if event.ending == "stopped" and self._outstanding:
            count = len(self._outstanding)
            _print(t("({count} queued; they go on with the next line you send)", count=count) + "\n")
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
            asks, events = await join_family(self._client, self._session, after)
            for row in asks:  # what was asked before we came
                self._inbox.put_nowait(row)
            async with aclosing(events) as feed:
                async for each in feed:
                    self._inbox.put_nowait(each)
        except CoderError as error:
            self._inbox.put_nowait(error)


def _whole(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _emptied(inbox: asyncio.Queue[_Item]) -> list[_Item]:
    return [inbox.get_nowait() for _ in range(inbox.qsize())]


def _print(text: str) -> None:
    sys.stdout.write(visible(text))  # names, answers and outputs may have been written by anyone
    sys.stdout.flush()
