"""The plain line-based REPL, for simple terminals and for lines from a pipe.

Lines and events arrive in one inbox. At a terminal each is handled at once, so that a line can be an answer, a prompt
or a queued prompt, and an ask can be answered elsewhere meanwhile. Lines from a pipe are handled one after the other,
each when the turns before it have ended, and asks are decided by policy because no person is present.
"""

import asyncio
import signal
import sys
from collections import deque
from collections.abc import Callable
from contextlib import aclosing
from typing import Literal

from coderelay.client.ask_view import choices, full_text
from coderelay.client.client import Client
from coderelay.client.commands.modes_permissions_trust import sandbox_of
from coderelay.client.follow_with_subagents import Events, join_family
from coderelay.client.i18n import error_in_words, retell, t
from coderelay.client.slash_commands import NAMES, RememberModel, SessionCommands
from coderelay.client.slash_results import (
    ChangedFiles,
    LeftSession,
    OutputLines,
    RewoundTurns,
    SlashResult,
    SwitchedSession,
    TextToCopy,
    ViKeys,
)
from coderelay.client.typed_line import PromptToSend, ShellLine, Slash, bare_command, classify
from coderelay.client.unattended_answers_and_exit import AutoAnswer, ExitDecision, Unattended
from coderelay.protocol.asks import By, PlanAsk
from coderelay.protocol.commands import AnswerAsk, RunShell, SendPrompt, StopTurn
from coderelay.protocol.errors import BadInput, CoderError
from coderelay.protocol.events import (
    AnyEvent,
    PromptRecalled,
    PromptTaken,
    Recorded,
    SessionDeleted,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import PromptId, SessionId, new_id
from coderelay.protocol.live_updates import Live
from coderelay.protocol.projected_rows import AskRow, Summary
from coderelay.protocol.queries import ListPrompts, ShowSession, WhyNotRun, WhyWaiting
from coderelay.surfaces.nonblocking_standard_streams import MOST_WAITING, stop_waiting_for_readers, wait_until_written
from coderelay.surfaces.terminal.answer_line_parser import AnswerParser, split_all
from coderelay.surfaces.terminal.ask_and_prompt_queues import (
    AskQueue,
    Change,
    ClosedAsk,
    DroppedAsks,
    OpenAsk,
    OpenedAsk,
)
from coderelay.surfaces.terminal.plain_renderer import PlainRenderer, write
from coderelay.surfaces.terminal.plain_repl_input import InputEnd, InputLine, begin_reading

_KEYS = """\
Enter or Ctrl+D sends the line; Ctrl+D on an empty line exits, and the session is kept.
Prompts that you send while a turn is running are queued. Ctrl+C stops the turn, even in the middle of an answer.
!COMMAND runs your own shell command, without the agent."""
WhileRunning = Literal["queue", "steer", "stop", "ignore"]
Ending = Literal["left", "parked", "stopped"]

_Item = InputLine | InputEnd | AskRow | Recorded | Live | CoderError


class PlainRepl:
    """The loop. `unattended_in` returns a folder's policy for asks when the lines come from a pipe."""

    def __init__(
        self,
        client: Client,
        session: SessionId,
        by: By,
        remember_model: RememberModel,
        unattended_in: Callable[[str], Unattended],
    ) -> None:
        self._commands = SessionCommands(client, session, by, remember_model, self._expect, t(_KEYS))
        self._client = client
        self.session = session
        self._by = by
        self._unattended_in = unattended_in
        self._nobody = AutoAnswer("deny", by)
        self._inbox: asyncio.Queue[_Item] = asyncio.Queue()
        self._piped: deque[InputLine | InputEnd] = deque()
        self._interactive = sys.stdin.isatty()
        self._renderer = PlainRenderer(by)
        self._asks = AskQueue(session)
        self._leaving = ExitDecision(client, session)
        self._answering = AnswerParser()
        self._expected: set[PromptId] = set()  # prompts that were sent from here
        self._outstanding: set[PromptId] = set()
        self._turn: PromptId | None = None
        self._carrying_on = False
        self._follower: asyncio.Task[None] | None = None
        self._interrupted = False
        self._ending: Ending | None = None
        self._while_running: WhileRunning = "queue"

    async def run(self, after: int, while_running: WhileRunning = "queue", first_prompt: str = "") -> Ending:
        """Run until the person leaves or the pipe ends; with a pipe, also until a turn is stopped or waits for a
        person. `first_prompt` is sent before any line is read."""
        self._while_running = while_running
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, lambda: asyncio.ensure_future(self._interrupt()))
        sandbox = await sandbox_of(self._client, self.session)
        self._greet(await self._enter(self.session, after), sandbox)
        if first_prompt:
            await self._prompt(first_prompt)
        begin_reading(self._inbox.put_nowait, at_terminal=self._interactive)
        try:
            while self._ending is None:
                await self._take(await self._next())
        finally:
            await self._end_following()
        return self._ending

    async def _enter(self, session: SessionId, after: int) -> Summary:
        summary = await self._client.get(ShowSession(session))
        self.session = session
        if not self._interactive:
            self._nobody = AutoAnswer(self._unattended_in(summary.cwd), self._by)
        self._renderer = PlainRenderer(self._by)
        self._asks = AskQueue(session)
        self._leaving = ExitDecision(self._client, session)
        self._turn = None
        self._outstanding.clear()
        self._carrying_on = summary.turn_open
        if summary.queued and await self._starts_by_itself(session):
            self._outstanding.update(each.prompt_id for each in await self._client.get(ListPrompts(session)))
        asks, events = await join_family(self._client, session, after)
        for row in asks:  # asks that were open before we joined
            self._inbox.put_nowait(row)
        self._follower = asyncio.create_task(self._follow(events))
        return summary

    async def _starts_by_itself(self, session: SessionId) -> bool:
        """Whether the next queued prompt starts now that the session is open, or has started a moment ago. It does
        not if a stop holds it back, or if this process cannot run it."""
        if await self._client.get(WhyWaiting(session)) is None:
            return (await self._client.get(ShowSession(session))).turn_open
        return await self._client.get(WhyNotRun(session)) is None

    async def _follow(self, events: Events) -> None:
        try:
            async with aclosing(events) as feed:
                async for each in feed:
                    self._inbox.put_nowait(each)
        except CoderError as error:
            self._inbox.put_nowait(error)

    async def _end_following(self) -> None:
        if self._follower is not None:
            self._follower.cancel()
            await asyncio.wait({self._follower})

    async def _move(self, moved: SwitchedSession) -> None:
        """Show another session. The previous session goes on running, but is no longer shown here."""
        await self._end_following()
        for each in [self._inbox.get_nowait() for _ in range(self._inbox.qsize())]:
            if isinstance(each, InputLine | InputEnd):
                self._inbox.put_nowait(each)
        await self._enter(moved.session, moved.after)

    def _greet(self, summary: Summary, sandbox: str) -> None:
        facts = [summary.model, summary.mode, t("sandbox: {sandbox}", sandbox=sandbox), summary.cwd]
        write(f"coder · {' · '.join(facts)}\n{t('session {session}', session=self.session)}\n")
        if self._carrying_on:
            write(t("(continuing the interrupted turn)") + "\n")
        else:
            self._show_prompt()

    async def _next(self) -> _Item:
        """The next item to handle. Lines from a pipe are held back while a turn runs or the reader is behind."""
        while not self._piped or self._busy():
            item = await self._inbox.get()
            if self._interactive or not isinstance(item, InputLine | InputEnd):
                return item
            self._piped.append(item)
        await wait_until_written(MOST_WAITING, unless=lambda: self._interrupted)
        return self._piped.popleft()

    async def _take(self, item: _Item) -> None:
        match item:
            case InputLine():
                await self._take_line(item)
            case InputEnd():
                self._ending = "stopped" if self._interrupted else "left"
            case AskRow():
                await self._show_change(self._asks.put(item))
            case Recorded():
                self._nobody.take(item.event)
                await self._show_change(self._asks.take(item))
                if item.session == self.session:
                    self._take_event(item.event)
                else:
                    self._renderer.tell_of_child(item.session, item.event)
            case CoderError():
                raise item
            case _:
                self._renderer.tell_live(item)
        if await self._leaving.is_time():
            self._ending = "parked"

    async def _take_line(self, line: str) -> None:
        said = classify(line)
        if isinstance(said, PromptToSend) and self._asks.first is None:
            said = bare_command(said.text) or said
        is_command = isinstance(said, ShellLine) or (isinstance(said, Slash) and said.name in NAMES)
        if self._asks.first is not None and self._interactive and not is_command:  # a piped line is never an answer
            await self._take_answer(line)
            return
        match said:
            case PromptToSend(text) if text:
                await self._prompt(text)
                return
            case Slash() as slash:
                if not await self._take_command(slash, line):
                    return
            case ShellLine(command) if self._interactive and command:
                await self._run_shell(command)
                return
            case ShellLine() if not self._interactive:  # `!` has no meaning in piped lines
                await self._prompt(line.strip())
                return
            case _:
                pass
        self._show_ask()
        self._show_prompt()

    async def _take_command(self, slash: Slash, line: str) -> bool:
        """Run a slash command. Returns whether the person can type again at once."""
        match told := await self._command(slash):
            case PromptToSend():
                await self._prompt(told.text, line.strip())
                self._show_ask()
                return False
            case LeftSession():
                self._ending = "left"
                return False
            case SwitchedSession():
                await self._move(told)
                write(f"{told.told}\n")
            case OutputLines():
                write(t("/output has no effect here: this terminal shows one line per call") + "\n")
            case TextToCopy():
                from coderelay.surfaces.terminal.input.clipboard_copy import copy_with_program

                done = t("copied {count} characters to the clipboard", count=f"{len(told.text):,}")
                missing = t("not copied: install wl-copy, xclip or pbcopy, or use /export")
                write(f"{done if await copy_with_program(told.text) else missing}\n")
            case ViKeys():
                write(t("this terminal has no line editor; /vim changes nothing here") + "\n")
            case RewoundTurns():
                self._renderer.write_between(f"{told.told}\n")
            case str() | ChangedFiles():
                self._renderer.write_between(f"{told}\n" if str(told) else "")
        return True

    async def _command(self, slash: Slash) -> SlashResult:
        try:
            return await self._commands.run(slash)
        except CoderError as error:
            return error_in_words(error)

    async def _run_shell(self, command: str) -> None:
        prompt_id = PromptId(new_id())
        if self._busy():
            write(t("(queued)") + "\n")
        self._expect(prompt_id)
        await self._client.send(RunShell(session=self.session, prompt_id=prompt_id, command=command, by=self._by))

    def _expect(self, prompt_id: PromptId) -> None:
        self._expected.add(prompt_id)
        self._outstanding.add(prompt_id)

    async def _take_answer(self, typed: str) -> None:
        """Answer the open ask. Several questions take one line each; one line such as `y all` answers several
        calls."""
        line, answered = split_all(typed, self._asks.batch)
        for asked in answered:
            try:
                decision = self._answering.take(asked.ask, line)
            except BadInput as error:
                write(f"{error.message}\n{choices(asked.ask)} > ")
                return
            if decision is None:
                write("> ")
                return
            await self._client.send(
                AnswerAsk(session=asked.session, ask=asked.ask.id, decision=decision, by=self._by)
            )

    async def _prompt(self, text: str, typed: str = "") -> None:
        prompt_id = PromptId(new_id())
        steer = False
        if self._busy():
            if self._while_running == "ignore":
                write(t("(ignored: a turn is running, and input_while_running is set to ignore)") + "\n")
                return
            if self._while_running == "stop":
                await self._stop()
            steer = self._while_running == "steer"
            write((t("(sent; the model reads it at its next step)") if steer else t("(queued)")) + "\n")
        self._expect(prompt_id)
        await self._client.send(
            SendPrompt(session=self.session, prompt_id=prompt_id, text=text, typed=typed, steer=steer, by=self._by)
        )

    def _take_event(self, event: AnyEvent) -> None:
        match event:
            case TurnStarted():
                self._turn = event.prompt_id
                self._outstanding.add(event.prompt_id)
                write("" if self._interactive else f"> {event.typed_text}\n")
            case PromptTaken() | PromptRecalled():
                self._outstanding.discard(event.prompt_id)
            case TurnEnded():
                self._end_turn(event)
            case SessionDeleted():
                write(t("session deleted") + "\n")
                self._ending = "left"
            case _:
                self._renderer.tell(event)

    async def _show_change(self, change: Change | None) -> None:
        match change:
            case OpenedAsk(asked) if not self._interactive:
                await self._decide(asked)
            case OpenedAsk(asked):
                if asked[0] is self._asks.first:
                    self._show_ask()
            case ClosedAsk():
                if change.by not in (self._by, self._nobody.by):
                    told = t("(answered by {who} in {via})", via=change.by.via, who=change.by.who)
                    write(f"\n{told}\n")
                if change.was_first:
                    self._show_ask()
            case DroppedAsks(asked):
                if asked[0].session != self.session:  # for our own session, the end of the turn is printed
                    write(f"\n{t('(this request is no longer open)')}\n")
                    self._show_ask()
            case None:
                pass

    async def _decide(self, asked: tuple[OpenAsk, ...]) -> None:
        """Answer asks by policy, with no person present. Asks of turns that others began are left open."""
        if self._turn not in self._expected or self._nobody.leaves_open([each.ask for each in asked]):
            self._leaving.want()
            return
        for each in asked:
            await self._client.send(self._nobody.answer(each.ask, each.session))

    def _show_ask(self) -> None:
        if (asked := self._asks.first) is None or not self._interactive:
            return
        ask = asked.ask
        shown_before = isinstance(ask, PlanAsk) and ask.call_id is None and self._turn is not None
        words = t("Approve this plan?") if shown_before else full_text(ask)  # the plan was just printed
        whose = t("[task: {title}] ", title=" ".join(asked.task.split())) if asked.task else ""
        write(f"{whose}{words}\n{choices(ask)} > ")

    def _end_turn(self, event: TurnEnded) -> None:
        if event.ending != "done":
            write(f"\n({retell(event.error or event.ending, event.said)})\n")
        self._carrying_on = False
        self._outstanding.discard(self._turn or PromptId(""))
        if event.ending == "stopped" and self._outstanding:
            count = len(self._outstanding)
            write(t("({count} queued; your next line starts the queue)", count=count) + "\n")
            self._outstanding.clear()
        if self._interrupted:
            self._ending = "stopped"
        self._turn = None
        self._show_prompt()

    def _show_prompt(self) -> None:
        if self._interactive and not self._busy():
            write("> ")

    def _busy(self) -> bool:
        return bool(self._outstanding) or self._carrying_on

    async def _interrupt(self) -> None:
        """Handle Ctrl+C: stop the turn. With a pipe, the loop then ends, and the remaining lines are not read."""
        self._interrupted = not self._interactive
        if self._interrupted:
            stop_waiting_for_readers()
        if self._interrupted and not self._busy():
            self._inbox.put_nowait(InputEnd())
        else:
            await self._stop()

    async def _stop(self) -> None:
        await self._client.send(StopTurn(session=self.session, by=self._by))
