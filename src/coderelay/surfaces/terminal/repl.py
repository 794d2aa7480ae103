"""The interactive terminal (REPL): sends what is typed to the session, and prints events above the prompt."""

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Iterable
from typing import Any

from msgspec.structs import replace
from prompt_toolkit.buffer import Buffer

from coderelay.client.i18n import error_in_words, t
from coderelay.client.slash_results import LeftSession, SwitchedSession
from coderelay.protocol.commands import Accepted, ConfigureSession, RecallPrompt, StopTurn, WriteSnapshot
from coderelay.protocol.errors import CoderError, StoreFailed
from coderelay.protocol.events import PromptAdmitted
from coderelay.protocol.ids import AskId, SessionId
from coderelay.protocol.modes import next_mode_by_key
from coderelay.surfaces.terminal.ask_menu import AskMenu
from coderelay.surfaces.terminal.drawing.prompt_and_note_lines import error_line, note
from coderelay.surfaces.terminal.input.completion import InputCompleter, SessionOffers
from coderelay.surfaces.terminal.input.history import TypedHistory
from coderelay.surfaces.terminal.input.key_bindings import make_bindings
from coderelay.surfaces.terminal.input.pasted_text_and_images import Attachments, Placeholders
from coderelay.surfaces.terminal.input_dispatch import InputDispatch, ReturnedLine, SentLine
from coderelay.surfaces.terminal.live_region_view import LiveRegionView
from coderelay.surfaces.terminal.notifications_and_title import Notifier
from coderelay.surfaces.terminal.opened_session import OpenedSession
from coderelay.surfaces.terminal.screen import Screen
from coderelay.surfaces.terminal.session_view import SessionView

log = logging.getLogger(__name__)

_SNAPSHOT_SECONDS = 2.0
_KEY_SECONDS = 0.3
_AGAIN_SECONDS = 1.0


class Repl:
    """Carries out the key actions, and sends the typed lines to the session that is shown."""

    def __init__(self, screen: Screen, region: LiveRegionView, opened: OpenedSession) -> None:
        self._screen = screen
        self._region = region
        self._opened = opened
        self._client = opened.client
        self._by = opened.by
        self._notifier = Notifier(screen)
        self._attachments = Attachments()
        self._sent: asyncio.Queue[SentLine | LeftSession] = asyncio.Queue()
        self._left: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._following: asyncio.Task[None] | None = None
        self._deciding: asyncio.TimerHandle | None = None
        self._pressed: set[asyncio.Task[None]] = set()
        self._ask_in_view: AskId | None = None
        self._is_given_back = False
        self._is_leaving = False
        self._output_lines = opened.output_lines
        self._switch_to(opened.session)

    def _switch_to(self, session: SessionId) -> None:
        """Make this the session that is shown and typed into."""
        self._view = SessionView(self._client, session, self._by, self._screen, self._region, self._notifier)
        self._view.output_lines = self._output_lines
        self._dispatch = InputDispatch(self._opened, self._view, self._screen, self._region, self._attachments)

    async def run(self, sent: Iterable[str]) -> int:
        """Run until the person leaves. `sent` are the lines that they sent while the session was being opened."""
        await self._view.begin()
        hint = t("? shortcuts · / commands · @ files · Shift+Tab changes the mode")
        told = self._opened.told if self._opened.is_known else (*self._opened.told, hint)
        await self._show(told, with_past=self._opened.is_known)
        self._screen.complete_startup(
            self._region,
            make_bindings(self, self._attachments, self._screen.lend),
            InputCompleter(SessionOffers(self._client, lambda: self._view.session)),
            TypedHistory(self._opened.history, self._region.folder, self._attachments),
            Placeholders(self._attachments),
        )
        if self._opened.vi_keys:
            self._screen.has_vi_keys = True
        self._screen.on_key(self._before_key)
        self._screen.buffer.on_text_changed += self._text_changed
        for text in sent:
            if self.send(text):
                self._screen.buffer.history.append_string(text)
        taking = asyncio.create_task(self._take_lines())
        try:
            return await self._left
        finally:
            self._view.end()
            await _end(taking, self._following, *self._pressed)
            await self._print_resume_hint()

    def send(self, text: str) -> bool:
        if self._region.picker is not None:
            self._pick()
            return False
        if not text and self._choose():
            return False
        self._sent.put_nowait(SentLine(text, self._ask_in_view))
        return self._ask_in_view is None or text.startswith(("/", "!"))

    def interrupt(self) -> bool:
        if self._region.picker is not None:
            self._close_picker()
        elif self._region.busy_since is not None:
            self._run_now(self._stop())
        else:
            return False
        return True

    def leave(self) -> None:
        """Leave after the lines sent so far are handled; a second call leaves at once."""
        if self._is_leaving:
            self.end()
        self._is_leaving = True
        self._sent.put_nowait(LeftSession())

    def has_turns(self) -> bool:
        return self._region.summary is not None and bool(self._region.summary.last_prompt)

    def rewind(self) -> None:
        self._sent.put_nowait(SentLine("/rewind"))

    def end(self, code: int = 0) -> None:
        if not self._left.done():
            self._left.set_result(code)

    def hint(self, text: str) -> None:
        self._region.hint = text
        self._screen.refresh()

    def cycle_mode(self) -> None:
        row = self._region.summary
        if row is not None:
            mode = next_mode_by_key(row.mode)
            self._region.summary = replace(row, mode=mode)
            self._run_now(self._client.send(ConfigureSession(session=row.id, mode=mode, by=self._by)))

    def show_rest(self) -> None:
        if self._view.show_rest():
            self._view.show_ask_again()
        else:
            self.hint(t("nothing to expand; /output N shortens tool output"))

    def clear_screen(self) -> None:
        self._screen.clear()
        self._view.show_ask_again()

    def answer_key(self, key: str) -> bool:
        """Answer the open ask if the key remains the only input for a moment, as it may be the beginning of a word. A
        key that was meant for an earlier ask does not answer this one."""
        asked, menu = self._view.asks.first, self._region.menu
        if asked is None or menu is None or self._region.picker is not None:
            return False
        if key == " ":
            return self._changed(menu.toggle())
        if self._view.ask_in_view() == asked.ask.id and menu.has_key(key):
            seconds = max(_KEY_SECONDS, self._view.seconds_until_ask_counts_as_seen())
            self._deciding = asyncio.get_running_loop().call_later(seconds, self._decide, key, asked.ask.id)
        elif key.isdecimal():
            self._deciding = asyncio.get_running_loop().call_later(_KEY_SECONDS, self._mark, menu, key)
        return False

    def begin_reason(self) -> bool:
        menu = self._region.menu
        if menu is None or not menu.takes_reason or self._region.picker is not None:
            return False
        self._cancel_decision()
        self._screen.write("n ")
        self.hint(t("type what to do instead; Enter denies the call and sends this text"))
        return True

    def recall(self) -> bool:
        last = self._region.waiting.last
        if last is None or last.task != "prompt":
            return False
        self._run_now(self._take_back(self._view.session, [last]))
        return True

    def move(self, by: int) -> bool:
        menu = self._region.picker
        if menu is None and not self._screen.buffer.text:
            menu = self._region.menu
        if menu is None or not len(menu):
            return False
        self._cancel_decision()
        menu.move(by)
        return self._changed(True)

    def _changed(self, has_changed: bool) -> bool:
        if has_changed:
            self._screen.refresh()
        return has_changed

    def _choose(self) -> bool:
        """Answer the open ask with what is marked in its menu. As with a key, an ask that has just come into view is
        answered a moment later, and only if no other key follows. Returns False if there is nothing to choose."""
        asked, menu = self._view.asks.first, self._region.menu
        if asked is None or menu is None or not len(menu):
            return False
        if self._view.ask_in_view() == asked.ask.id:
            seconds = self._view.seconds_until_ask_counts_as_seen()
            self._deciding = asyncio.get_running_loop().call_later(seconds, self._decide_marked, menu, asked.ask.id)
        return True

    def _decide_marked(self, menu: AskMenu, ask: AskId) -> None:
        if self._region.menu is menu and not self._screen.buffer.text:
            self._sent.put_nowait(SentLine(menu.answer, ask))

    def _text_changed(self, buffer: Buffer) -> None:
        if len(buffer.text) != 1:
            self._cancel_decision()
        if self._region.picker is not None:
            self._region.picker.filter(buffer.text)

    def _cancel_decision(self) -> None:
        if self._deciding is not None:
            self._deciding.cancel()

    def _decide(self, key: str, ask: AskId) -> None:
        asked = self._view.asks.first
        if asked is not None and asked.ask.id == ask and self._screen.buffer.text == key:
            self._screen.buffer.reset()
            self._sent.put_nowait(SentLine(key, ask))

    def _mark(self, menu: AskMenu, key: str) -> None:
        if self._region.menu is menu and self._screen.buffer.text == key and menu.mark(key):
            self._screen.buffer.reset()
            self._screen.refresh()

    def _pick(self) -> None:
        chosen = self._region.picker.chosen if self._region.picker is not None else None
        self._close_picker()
        if chosen is not None:
            self._sent.put_nowait(SentLine(chosen.line))

    def _close_picker(self) -> None:
        self._region.picker = None
        self._screen.buffer.reset()
        self._screen.refresh()

    def _before_key(self) -> None:
        self._region.hint = ""
        if not self._screen.buffer.text or self._is_given_back:  # the key begins a new line
            self._ask_in_view = self._view.ask_in_view()
            self._is_given_back = False

    async def _take_lines(self) -> None:
        """Handle the sent lines one after the other, so that each sees the effects of the one before."""
        while True:
            sent = await self._sent.get()
            before = self._screen.rows_printed
            await self._guarded(self._take(sent))
            if isinstance(sent, SentLine) and sent.text.startswith("/") and self._screen.rows_printed > before:
                self._view.show_ask_again()
            self._screen.refresh()

    async def _take(self, sent: SentLine | LeftSession) -> None:
        match told := sent if isinstance(sent, LeftSession) else await self._dispatch_line(sent):
            case SwitchedSession():
                await self._move(told)
            case LeftSession():
                self.end()
            case ReturnedLine():
                self._is_given_back = True
            case None:
                pass

    async def _dispatch_line(self, sent: SentLine) -> SwitchedSession | LeftSession | ReturnedLine | None:
        """Carry out a line. If the log cannot store it, it is put back into the input, before what was typed
        since."""
        try:
            return await self._dispatch.take(sent)
        except StoreFailed as error:
            told = f"{error_in_words(error)}\n{t('not sent; the text is back in the input')}"
            self._screen.print(error_line(told, self._screen.width))
            self._screen.write("\n".join(filter(None, [sent.text, self._screen.buffer.text])))
            return ReturnedLine()

    async def _guarded(self, work: Awaitable[object]) -> None:
        """The error boundary of one request: refusals and faults are shown to the person, and faults are logged
        once."""
        try:
            await work
        except CoderError as error:
            self._screen.print(error_line(error_in_words(error), self._screen.width))
        except Exception as error:
            log.exception("a request failed")
            self._screen.print(error_line(f"{type(error).__name__}: {error}", self._screen.width))

    async def _stop(self) -> None:
        """Stop the turn. The prompts that this person has queued return to the input, as they were meant for that
        turn."""
        session, waiting = self._view.session, list(self._region.waiting)
        await self._client.send(StopTurn(session=session, by=self._by))
        own = [each for each in waiting if each.by == self._by and each.task == "prompt"]
        await self._take_back(session, own)
        if others := len(waiting) - len(own):
            told = t("{count} queued; your next line starts the queue", count=others)
            self._screen.print(note(told, self._screen.width))

    async def _take_back(self, session: SessionId, prompts: Iterable[PromptAdmitted]) -> None:
        """Recall queued prompts, and put those that were recalled into the input, before its text."""
        taken: list[str] = []
        for each in prompts:
            recall = RecallPrompt(session=session, prompt_id=each.prompt_id, by=self._by)
            if isinstance(await self._client.send(recall), Accepted):
                taken.append(self._attachments.fold(each.typed_text))
        if taken:
            self._screen.write("\n".join(filter(None, [*taken, self._screen.buffer.text])))

    async def _move(self, moved: SwitchedSession) -> None:
        before = self._view, self._dispatch
        self._output_lines = self._view.output_lines
        self._switch_to(moved.session)
        try:
            await self._view.begin()
        except CoderError:
            self._view, self._dispatch = before
            raise
        before[0].end()
        await _end(self._following)
        await self._show((), with_past=True)

    async def _show(self, told: Iterable[str], *, with_past: bool) -> None:
        if with_past:
            await self._view.print_history()
        for line in told:
            self._screen.print(note(line, self._screen.width))
        self._following = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        ends_well = False

        async def follow() -> None:
            nonlocal ends_well
            await self._follow_with_retries()
            ends_well = True

        await self._guarded(follow())
        if ends_well:
            self._region.summary = None  # somebody deleted the session
        self.end(0 if ends_well else 1)

    async def _follow_with_retries(self) -> None:
        """Follow the session through storage failures: a full disk or an unusable log is reported once and retried
        until it works again, so that the terminal does not end because of it."""
        told, head = "", 0
        while True:
            try:
                return await self._view.follow()
            except StoreFailed as error:
                words = error_in_words(error)
                if words != told or self._view.head != head:
                    told, head = words, self._view.head
                    self._screen.print(error_line(words, self._screen.width))
                    self._screen.refresh()
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _print_resume_hint(self) -> None:
        row = self._region.summary
        if row is None or not (row.last_prompt or len(self._region.waiting)):
            return
        try:
            async with asyncio.timeout(_SNAPSHOT_SECONDS):
                await self._client.send(WriteSnapshot(session=row.id, by=self._by))
        except TimeoutError:
            pass  # the snapshot may wait for a locked log; leaving must not
        except CoderError:  # the session or its folder is gone
            return
        told = t("Resume with: coder resume {session}", session=row.id)
        if self._region.busy_since is not None:
            told = t("The turn is not finished. Continue it with: coder resume {session}", session=row.id)
        if len(self._view.asks):
            told = t("The question stays open. Resume with: coder resume {session}", session=row.id)
        self._screen.print(note(told, self._screen.width))

    def _run_now(self, work: Coroutine[Any, Any, object]) -> None:
        """Run the work of a key at once, not after the queued lines. Once the person has left, keys do nothing,
        because the application is shutting down."""
        if self._left.done():
            work.close()
            return
        task = asyncio.create_task(self._guarded(work))
        self._pressed.add(task)
        task.add_done_callback(self._pressed.discard)


async def _end(*tasks: asyncio.Task[None] | None) -> None:
    for task in tasks:
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
