"""Handles the lines that a person sends to a session: prompts, slash commands, shell commands and answers."""

from contextlib import nullcontext, suppress

from msgspec import Struct

from coderelay.client.ask_view import parse_answer, view_of
from coderelay.client.i18n import retell, t
from coderelay.client.slash_commands import SessionCommands
from coderelay.client.slash_results import (
    ChangedFiles,
    LeftSession,
    OutputLines,
    RewoundTurns,
    SwitchedSession,
    TextToCopy,
    ViKeys,
)
from coderelay.client.typed_answer_parser import is_answer
from coderelay.client.typed_line import PromptToSend, ShellLine, Slash, bare_command, classify
from coderelay.protocol.commands import RunShell, SendPrompt, StopTurn
from coderelay.protocol.errors import BadInput, CoderError, StoreFailed
from coderelay.protocol.ids import AskId, PromptId, new_id
from coderelay.protocol.queries import WhyNotRun
from coderelay.surfaces.terminal.answer_line_parser import split_all
from coderelay.surfaces.terminal.ask_and_prompt_queues import OpenAsk
from coderelay.surfaces.terminal.drawing.asks import ask_card, given_answer
from coderelay.surfaces.terminal.drawing.diffs import drawn_diff
from coderelay.surfaces.terminal.drawing.prompt_and_note_lines import error_line, note, plain, user_line
from coderelay.surfaces.terminal.input.pasted_text_and_images import Attachments, PreparedPrompt
from coderelay.surfaces.terminal.live_region_view import LiveRegionView
from coderelay.surfaces.terminal.opened_session import OpenedSession
from coderelay.surfaces.terminal.screen import Screen
from coderelay.surfaces.terminal.session_view import SessionView
from coderelay.surfaces.terminal.slash_command_pickers import picker_for

KEYS = """\
Enter       send (also Ctrl+D)
Alt+Enter   new line (also Ctrl+J, or \\ at the end of a line)
Ctrl+O      edit the prompt in your editor
Esc         stop the turn; twice on an empty line: go back to an earlier prompt
Ctrl+C      clear the input, or stop the turn; twice to exit
Ctrl+D      on an empty line: exit; the session is kept
Shift+Tab   change the mode: default, auto-edit, plan
Tab         complete commands and @files; in a question: say no, and why
Up          on an empty line: take back the last queued prompt
Ctrl+R      search the history
Ctrl+T      show shortened output in full, the latest first
Ctrl+V      attach an image from the clipboard
@file       name a file, or attach an image
!command    run a shell command yourself: no permission checks, no sandbox
A line that starts with a space is not kept in the history.
Prompts that you send while a turn runs are queued; /steer reaches the running turn."""


class SentLine(Struct, frozen=True):
    """A line that was sent, and the ask that was shown when the person began to type it."""

    text: str
    ask: AskId | None = None


class ReturnedLine(Struct, frozen=True):
    """The line was put back into the input: the ask it was meant for is decided, or the log could not store it."""


class InputDispatch:
    """Carries out the lines that a person types into one session."""

    def __init__(
        self,
        opened: OpenedSession,
        view: SessionView,
        screen: Screen,
        region: LiveRegionView,
        attachments: Attachments,
    ) -> None:
        self._opened = opened
        self._client = opened.client
        self._by = opened.by
        self._view = view
        self._session = view.session
        self._screen = screen
        self._region = region
        self._attachments = attachments
        self._commands = SessionCommands(
            opened.client, view.session, opened.by, opened.remember_model, _ignore_queued_prompt_id, t(KEYS)
        )

    async def take(self, sent: SentLine) -> SwitchedSession | LeftSession | ReturnedLine | None:
        """Carry out one line. Raises a CoderError."""
        prepared = await self._attachments.prepare(sent.text, self._region.folder)
        for each in prepared.notes:
            self._note(each)
        said = classify(prepared.text)
        if isinstance(said, PromptToSend) and not len(self._view.asks):
            said = bare_command(said.text) or said
        match said:
            case Slash():
                return await self._take_command(said, prepared)
            case ShellLine():
                await self._run_shell(said.command)
            case PromptToSend() if len(self._view.asks):
                return await self._take_answer(prepared, sent)
            case PromptToSend() if sent.ask is not None and (is_answer(said.text) or len(said.text) == 1):
                return self._give_back(sent.text, t("that question was already answered; nothing was sent"))
            case PromptToSend():
                if said.text or prepared.images:
                    await self.prompt(prepared)
        return None

    async def prompt(self, typed: PreparedPrompt, command: str = "") -> bool:
        """Send a prompt. Returns whether it was sent. `command` is the slash command that the person typed, if the
        text is its expansion."""
        steer = False
        if self._view.is_busy:
            match self._opened.while_running:
                case "ignore":
                    self._note(t("ignored: a turn is running, and input_while_running is set to ignore"))
                    return False
                case "stop":
                    await self._client.send(StopTurn(session=self._session, by=self._by))
                case "steer":
                    steer = True
                case "queue":
                    pass
        await self._client.send(
            SendPrompt(
                session=self._session,
                prompt_id=PromptId(new_id()),
                text=typed.text,
                typed=command,
                images=typed.images,
                steer=steer,
                max_steps=self._opened.max_steps,
                by=self._by,
            )
        )
        await self._tell_why_not()
        return True

    async def _run_shell(self, command: str) -> None:
        await self._client.send(
            RunShell(session=self._session, prompt_id=PromptId(new_id()), command=command, by=self._by)
        )
        await self._tell_why_not()

    async def _tell_why_not(self) -> None:
        """Tell the person if this process cannot run the session: the prompt then waits for another process."""
        with suppress(
            StoreFailed
        ):  # the prompt is sent; the follower of the session reports that the log cannot be used
            why = await self._client.get(WhyNotRun(self._session)) if self._region.busy_since is None else None
            if why is not None:
                told = t("queued, but this process cannot run the session: {problem}", problem=retell(why))
                self._note(told)

    async def _take_command(self, slash: Slash, prepared: PreparedPrompt) -> SwitchedSession | LeftSession | None:
        echo, width = user_line(prepared.text, self._screen.width), self._screen.width
        self._region.picker = await picker_for(self._client, self._session, slash)
        if self._region.picker is not None:
            return None
        try:
            with self._view.undoing() if slash.name in ("undo", "rewind") else nullcontext():
                told = await self._commands.run(slash)
        except CoderError:
            self._screen.print(echo)
            raise
        match told:
            case PromptToSend():  # it is printed when its turn begins
                await self.prompt(PreparedPrompt(told.text, prepared.images), prepared.text.strip())
            case SwitchedSession():
                self._screen.print(echo + plain(told.told, width))
                return told
            case LeftSession():
                return told
            case ChangedFiles():
                diff = "".join(f"{row}\n" for row in drawn_diff(told.diff, width))
                self._screen.print(echo + (plain(told.text, width) if told.text else "") + diff)
            case OutputLines():
                self._screen.print(echo + plain(self._show_lines(told.lines), width))
            case TextToCopy():
                self._screen.print(echo + plain(await self._copy(told.text), width))
            case ViKeys():
                self._screen.has_vi_keys = not self._screen.has_vi_keys if told.on is None else told.on
                on = t("vi keys: on; Esc leaves insert mode, i enters it")
                self._screen.print(echo + plain(on if self._screen.has_vi_keys else t("vi keys: off"), width))
            case RewoundTurns():
                self._screen.print(echo + plain(told.told, width))
                if not self._screen.buffer.text:
                    self._screen.write(self._attachments.fold(told.prompt))
            case str():
                self._screen.print(echo + (plain(told, width) if told else ""))
        return None

    def _show_lines(self, lines: int | None) -> str:
        self._view.output_lines = self._view.output_lines if lines is None else lines
        if (count := self._view.output_lines) == 1:
            return t("output is shortened to 1 line; Ctrl+T expands the last one")
        if count:
            return t("output is shortened to {count} lines; Ctrl+T expands the last one", count=count)
        return t("output is shown in full")

    async def _copy(self, text: str) -> str:
        from coderelay.surfaces.terminal.input.clipboard_copy import copy_with_program, terminal_sequence

        self._screen.send_sequence(sequence := terminal_sequence(text))
        if await copy_with_program(text) or sequence:
            return t("copied {count} characters to the clipboard", count=f"{len(text):,}")
        return t("not copied: it is too long for the terminal; install wl-copy or xclip, or use /export")

    async def _take_answer(self, typed: PreparedPrompt, sent: SentLine) -> ReturnedLine | None:
        first = self._view.asks.first
        assert first is not None
        if sent.ask is None:
            await self._put_off(typed)  # the person began the line before the ask opened
            return None
        if sent.ask != first.ask.id:
            told = t("that question was already answered and this is another one; your answer was not sent")
            return self._give_back(sent.text, told)
        line, answered = split_all(typed.text, self._view.asks.batch)
        try:
            for asked in answered:
                await self._answer(asked, line)
        except BadInput:
            if view_of(first.ask).open_ended or not typed.text.strip():
                raise
            if self._region.menu is not None and self._region.menu.mark(typed.text.strip()):
                return None  # Enter answers
            await self._put_off(typed)
        return None

    async def _answer(self, asked: OpenAsk, line: str) -> None:
        current, width = self._region.answer_parser.current(asked.ask), self._screen.width
        decision = self._region.answer_parser.take(asked.ask, line)
        if decision is not None:
            await self._view.answer(asked, decision)
        else:  # show the answer, and the next question of the ask
            given = given_answer(parse_answer(current, [line]), width)
            self._screen.print(given + ask_card(self._region.answer_parser.current(asked.ask), width))

    async def _put_off(self, typed: PreparedPrompt) -> None:
        """Send a line that is not an answer as a prompt, which is queued behind the open ask."""
        if await self.prompt(typed) and len(self._view.asks):
            self._note(t("queued; the question above is still open"))

    def _give_back(self, text: str, why: str) -> ReturnedLine:
        self._screen.print(error_line(why, self._screen.width))
        if not self._screen.buffer.text:
            self._screen.write(text)
        return ReturnedLine()

    def _note(self, text: str) -> None:
        self._screen.print(note(text, self._screen.width))


def _ignore_queued_prompt_id(_: PromptId) -> None:
    """Ignored: the queued prompts are read from the log."""
