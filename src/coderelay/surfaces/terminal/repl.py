"""The terminal people live in: what they type goes to the session, what happens there is drawn above the prompt."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Literal

from msgspec import Struct
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document

from coderelay.client.client import Client
from coderelay.client.errors import error_in_words
from coderelay.client.language import t
from coderelay.client.session_commands import RememberModel, SessionCommands
from coderelay.client.slash import Left, Moved, Prompted, Shell, Slash, classify
from coderelay.protocol.asks import BudgetAsk, By, PermissionAsk
from coderelay.protocol.commands import (
    Accepted,
    ConfigureSession,
    RecallPrompt,
    RunShell,
    SendPrompt,
    StopTurn,
    WriteSnapshot,
)
from coderelay.protocol.errors import BadInput, CoderError
from coderelay.protocol.events import PromptAdmitted
from coderelay.protocol.ids import AskId, PromptId, SessionId, new_id
from coderelay.surfaces.terminal.answering import decides_at_once, split_all
from coderelay.surfaces.terminal.attention import Attention
from coderelay.surfaces.terminal.choosing import picker_for
from coderelay.surfaces.terminal.drawing.lines import error_line, note, plain, user_line
from coderelay.surfaces.terminal.input.attachments import Attachments, Prepared
from coderelay.surfaces.terminal.input.completion import InputCompleter
from coderelay.surfaces.terminal.input.history import TypedHistory
from coderelay.surfaces.terminal.input.keys import make_bindings, next_mode
from coderelay.surfaces.terminal.input.offers import SessionOffers
from coderelay.surfaces.terminal.input.placeholders import Placeholders
from coderelay.surfaces.terminal.region import Region
from coderelay.surfaces.terminal.screen import Screen
from coderelay.surfaces.terminal.visit import Visit

WhileRunning = Literal["queue", "steer", "stop", "ignore"]
_KEY_SECONDS = 0.3

KEYS = """\
Enter sends, and so does Ctrl+D; on an empty line Ctrl+D leaves, and the session stays.
Alt+Enter, Ctrl+J or a backslash at the end of a line: one more line. Ctrl+O opens it in your editor.
Esc or Ctrl+C stops the turn, in the middle of an answer too; Ctrl+C twice leaves.
What you send while a turn runs is queued; Up on an empty line takes it back.
Shift+Tab goes through the modes, Ctrl+R searches what was typed; a leading space is not remembered.
@NAME completes files; images become part of the prompt, Ctrl+V takes one from the clipboard.
!COMMAND runs a command of your own in this folder: nobody judges it, and it has no terminal."""


class Opened(Struct, frozen=True):
    """A session, and what the terminal is to know to show it. `told` is printed first; `is_known` if it has a past to
    tell; `history` is the file of what was typed before."""

    client: Client
    session: SessionId
    by: By
    remember_model: RememberModel
    told: tuple[str, ...]
    is_known: bool
    while_running: WhileRunning
    history: str
    max_steps: int | None = None


class Repl:
    def __init__(self, screen: Screen, region: Region, opened: Opened) -> None:
        self._screen = screen
        self._region = region
        self._opened = opened
        self._client = opened.client
        self._by = opened.by
        self._attention = Attention(screen)
        self._attachments = Attachments()
        self._sent: asyncio.Queue[str] = asyncio.Queue()
        self._left: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._visit = self._new_visit(opened.session)
        self._following: asyncio.Task[None] | None = None
        self._deciding: asyncio.TimerHandle | None = None
        self._pressed: set[asyncio.Future[None]] = set()

    async def run(self, sent: Iterable[str]) -> int:
        """Until the person leaves. `sent` is what they sent before this was there."""
        for line in self._opened.told:
            self._screen.print(note(line))
        await self._show(with_past=self._opened.is_known)
        self._screen.equip(
            self._region,
            make_bindings(self, self._attachments, self._screen.lend),
            InputCompleter(SessionOffers(self._client, lambda: self._visit.session)),
            TypedHistory(self._opened.history, self._region.folder, self._attachments),
            Placeholders(self._attachments),
        )
        self._screen.on_key(self._forget_hint)
        self._screen.buffer.on_text_changed += self._text_changed
        for text in sent:
            if self.send(text):
                self._screen.buffer.history.append_string(text)
        taking = asyncio.create_task(self._take_lines())
        try:
            return await self._left
        finally:
            await _end(taking, self._following)
            await self._say_goodbye()

    def send(self, text: str) -> bool:
        if self._region.picker is not None:
            self._pick()
            return False
        self._sent.put_nowait(text)
        return len(self._visit.asks) == 0 or text.startswith(("/", "!"))

    def interrupt(self) -> bool:
        if self._region.picker is not None:
            self._close_picker()
        elif self._visit.is_busy:
            self._soon(self._stop())
        else:
            return False
        return True

    def leave(self, code: int = 0) -> None:
        if not self._left.done():
            self._left.set_result(code)

    def hint(self, text: str) -> None:
        self._region.hint = text
        self._screen.refresh()

    def cycle_mode(self) -> None:
        self._soon(self._next_mode())

    def clear_screen(self) -> None:
        self._screen.clear()

    def answer_key(self, key: str) -> bool:
        """It answers if it stays alone for a moment: it may be the beginning of a word."""
        asked = self._visit.asks.first
        if asked is not None and self._region.picker is None and decides_at_once(asked.ask, key):
            loop = asyncio.get_running_loop()
            self._deciding = loop.call_later(_KEY_SECONDS, self._decide, key, asked.ask.id)
        return False

    def recall(self) -> bool:
        last = self._region.waiting.last
        if last is None or last.task != "prompt":
            return False
        self._soon(self._take_back(last))
        return True

    def move(self, by: int) -> bool:
        if self._region.picker is None:
            return False
        self._region.picker.move(by)
        self._screen.refresh()
        return True

    def _text_changed(self, buffer: Buffer) -> None:
        if self._deciding is not None and len(buffer.text) != 1:
            self._deciding.cancel()
        if self._region.picker is not None:
            self._region.picker.narrow(buffer.text)

    def _decide(self, key: str, ask: AskId) -> None:
        asked = self._visit.asks.first
        if asked is not None and asked.ask.id == ask and self._screen.buffer.text == key:
            self._screen.buffer.reset()
            self.send(key)

    def _pick(self) -> None:
        chosen = self._region.picker.chosen if self._region.picker is not None else None
        self._close_picker()
        if chosen is not None:
            self._sent.put_nowait(chosen.line)

    def _close_picker(self) -> None:
        self._region.picker = None
        self._screen.buffer.reset()
        self._screen.refresh()

    def _forget_hint(self) -> None:
        self._region.hint = ""

    async def _take_lines(self) -> None:
        """One after the other, so that each finds what the one before has done."""
        while True:
            text = await self._sent.get()
            try:
                await self._take(text)
            except CoderError as error:
                self._screen.print(error_line(error_in_words(error)))
            self._screen.refresh()

    async def _take(self, text: str) -> None:
        prepared = await self._attachments.prepare(text, self._region.folder)
        for each in prepared.notes:
            self._screen.print(note(each))
        match said := classify(prepared.text):
            case Slash():
                await self._take_command(said, prepared)
            case Shell():
                shell = RunShell(
                    session=self._visit.session, prompt_id=PromptId(new_id()), command=said.command, by=self._by
                )
                await self._client.send(shell)
            case Prompted() if len(self._visit.asks):
                await self._take_answer(prepared)
            case Prompted():
                if said.text or prepared.images:
                    await self._prompt(prepared)

    async def _take_command(self, slash: Slash, prepared: Prepared) -> None:
        echo = user_line(prepared.text, self._screen.width)
        self._region.picker = await picker_for(self._client, self._visit.session, slash)
        if self._region.picker is not None:
            return
        try:
            told = await self._commands.run(slash)
        except CoderError:
            self._screen.print(echo)
            raise
        match told:
            case Prompted():  # seen when its turn begins
                await self._prompt(Prepared(told.text, prepared.images), prepared.text.strip())
            case Moved():
                self._screen.print(echo + plain(told.told))
                await self._move(told)
            case Left():
                self.leave()
            case str():
                self._screen.print(echo + (plain(told) if told else ""))

    async def _take_answer(self, typed: Prepared) -> None:
        first = self._visit.asks.first
        assert first is not None
        line, answered = split_all(typed.text, self._visit.asks.batch)
        try:
            for asked in answered:
                decision = self._region.answering.take(asked.ask, line)
                if decision is not None:
                    await self._visit.answer(asked, decision)
        except BadInput:
            if not isinstance(first.ask, PermissionAsk | BudgetAsk) or not typed.text.strip():
                raise
            await self._prompt(typed)  # no answer, so it is for later
            self._screen.print(note(t("queued; the question above is still open")))

    async def _prompt(self, typed: Prepared, command: str = "") -> None:
        """`command` is what the person wrote, if the text is what that stands for."""
        steer = False
        if self._visit.is_busy:
            match self._opened.while_running:
                case "ignore":
                    self._screen.print(note(t("left out: a turn is running")))
                    return
                case "stop":
                    await self._stop()
                case "steer":
                    steer = True
                case "queue":
                    pass
        await self._client.send(
            SendPrompt(
                session=self._visit.session,
                prompt_id=PromptId(new_id()),
                text=typed.text,
                typed=command,
                images=typed.images,
                steer=steer,
                max_steps=self._opened.max_steps,
                by=self._by,
            )
        )

    async def _stop(self) -> None:
        await self._client.send(StopTurn(session=self._visit.session, by=self._by))

    async def _next_mode(self) -> None:
        mode = self._region.summary.mode if self._region.summary is not None else "default"
        wanted = ConfigureSession(session=self._visit.session, mode=next_mode(mode), by=self._by)
        await self._client.send(wanted)

    async def _take_back(self, prompt: PromptAdmitted) -> None:
        recall = RecallPrompt(session=self._visit.session, prompt_id=prompt.prompt_id, by=self._by)
        if isinstance(await self._client.send(recall), Accepted):
            text = self._attachments.fold(prompt.said)
            self._screen.buffer.document = Document(text, len(text))

    async def _move(self, moved: Moved) -> None:
        await _end(self._following)
        self._visit = self._new_visit(moved.session)
        await self._show(with_past=True)

    async def _say_goodbye(self) -> None:
        row = self._region.summary
        if row is None or not (row.last_prompt or len(self._region.waiting)):
            return
        try:
            await self._client.send(WriteSnapshot(session=row.id, by=self._by))
        except CoderError:  # it is gone, or its folder is
            return
        told = t("`coder resume {session}` goes on here", session=row.id)
        if len(self._visit.asks):
            told = t("the question stays open; `coder resume {session}` shows it again", session=row.id)
        self._screen.print(note(told))

    def _new_visit(self, session: SessionId) -> Visit:
        self._commands = SessionCommands(
            self._client, session, self._by, self._opened.remember_model, _unheard, t(KEYS)
        )
        return Visit(self._client, session, self._by, self._screen, self._region, self._attention)

    async def _show(self, *, with_past: bool) -> None:
        await self._visit.begin()
        if with_past:
            await self._visit.tell_earlier()
        self._following = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        try:
            await self._visit.follow()
        except CoderError as error:
            self._screen.print(error_line(error_in_words(error)))
            self.leave(1)
        else:
            self.leave()  # somebody deleted the session

    def _soon(self, work: Awaitable[object]) -> None:
        """A key that changes the session does not wait behind lines."""

        async def do() -> None:
            try:
                await work
            except CoderError as error:
                self._screen.print(error_line(error_in_words(error)))

        task = asyncio.ensure_future(do())
        self._pressed.add(task)
        task.add_done_callback(self._pressed.discard)


def _unheard(_: PromptId) -> None:
    """What waits is seen in the log."""


async def _end(*tasks: asyncio.Task[None] | None) -> None:
    for task in tasks:
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
