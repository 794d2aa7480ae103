"""A line to type into: the real buffer, keys, completion and history, with bytes in place of a keyboard."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from prompt_toolkit.application import Application, create_app_session
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer, DummyCompleter
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.layout import BufferControl, HSplit, Layout, Window
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.widgets import SearchToolbar

from coderelay.surfaces.terminal.input.history import TypedHistory
from coderelay.surfaces.terminal.input.key_bindings import make_bindings
from coderelay.surfaces.terminal.input.pasted_text_and_images import Attachments, Placeholders

ENTER, NEWLINE, ALT_ENTER, TAB, SHIFT_TAB = "\r", "\n", "\x1b\r", "\t", "\x1b[Z"
UP, DOWN, LEFT, RIGHT, ESC = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C", "\x1b"
BACKSPACE, CTRL_A, CTRL_C, CTRL_D, CTRL_L, CTRL_O, CTRL_R, CTRL_V, CTRL_W = map(
    chr, (0x7F, 1, 3, 4, 12, 15, 18, 22, 23)
)
_MARK = "\x1b[34~"  # F20, which nobody presses


def pasted(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


class Done(list[str]):
    """What the keys wanted, one line each. The flags are how the session stands."""

    busy = asks = waiting = turns = has_list = False
    remembers = True

    def send(self, text: str) -> bool:
        self.append(f"send {text}")
        return self.remembers

    def interrupt(self) -> bool:
        return self._if(self.busy, "interrupt")

    def leave(self) -> None:
        self.append("leave")

    def hint(self, text: str) -> None:
        self.append(f"hint {text}")

    def cycle_mode(self) -> None:
        self.append("cycle mode")

    def clear_screen(self) -> None:
        self.append("clear screen")

    def show_rest(self) -> None:
        self.append("show rest")

    def answer_key(self, key: str) -> bool:
        return self._if(self.asks, f"answer {key}")

    def begin_reason(self) -> bool:
        return False

    def recall(self) -> bool:
        return self._if(self.waiting, "recall")

    def has_turns(self) -> bool:
        return self.turns

    def rewind(self) -> None:
        self.append("rewind")

    def move(self, by: int) -> bool:
        return self._if(self.has_list, f"move {by}")

    def _if(self, so: bool, what: str) -> bool:
        if so:
            self.append(what)
        return so


class Line:
    def __init__(self, keyboard: PipeInput, file: Path, folder: str, completer: Completer) -> None:
        self.done = Done()
        self.attachments = Attachments()
        self.buffer = Buffer(
            completer=completer,
            history=TypedHistory(str(file), folder, self.attachments),
            multiline=True,
            complete_while_typing=True,
        )
        self._keyboard = keyboard
        self._changed = asyncio.Event()
        self._marks = 0
        marks = KeyBindings()

        @marks.add("f20")
        def _(event: KeyPressEvent) -> None:
            self._marks += 1

        search = SearchToolbar()
        control = BufferControl(
            self.buffer, input_processors=[Placeholders(self.attachments)], search_buffer_control=search.control
        )
        self.control = control
        self.app: Application[None] = Application(
            Layout(HSplit([Window(control), search])),
            key_bindings=merge_key_bindings([make_bindings(self.done, self.attachments), marks]),
        )
        self.app.ttimeoutlen = self.app.timeoutlen = 0.05
        self.app.after_render += self._has_changed
        self.buffer.on_completions_changed += self._has_changed

    @property
    def text(self) -> str:
        return self.buffer.text

    @property
    def shown(self) -> str:
        """As a person sees it, without what surrounds it."""
        content = self.control.create_content(200, 50)
        lines = ["".join(text for _, text, *_ in content.get_line(number)) for number in range(content.line_count)]
        return "\n".join(line.removesuffix(" ") for line in lines)

    @property
    def column(self) -> int:
        """Of the cursor, as a person sees it."""
        return self.control.create_content(200, 50).cursor_position.x

    @property
    def offered(self) -> list[str]:
        state = self.buffer.complete_state
        return [each.text for each in state.completions] if state is not None else []

    async def type(self, *keys: str) -> None:
        """Until the keys have done what they do."""
        for each in keys:
            self._keyboard.send_text(each + _MARK)
            wanted = self._marks + 1
            await self.until(lambda wanted=wanted: self._marks == wanted)

    async def press(self, key: str, until: Callable[[], bool]) -> None:
        """Without anything behind it: Escape waits whether it is the beginning of more."""
        self._keyboard.send_text(key)
        await self.until(until)

    async def until(self, so: Callable[[], bool]) -> None:
        while not so():
            self._changed.clear()
            await self._changed.wait()

    def _has_changed(self, _: object) -> None:
        self._changed.set()

    async def offers(self, wanted: Sequence[str]) -> None:
        await self.until(lambda: self.offered == list(wanted))


@asynccontextmanager
async def line(
    root: Path, *, folder: str = "/work", completer: Completer | None = None
) -> AsyncGenerator[Line, None]:
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        made = Line(keyboard, root / "history", folder, completer or DummyCompleter())
        running = asyncio.create_task(made.app.run_async())
        await made.until(lambda: made.app.is_running and made.app.render_counter > 0)
        try:
            yield made
        finally:
            made.app.exit()
            await running
