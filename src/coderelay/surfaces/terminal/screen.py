"""The terminal screen (prompt_toolkit): a live region at the bottom, and the only way to print above it.

Printed text goes to the terminal's own scrollback once and is never redrawn; only the region is.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Protocol, TextIO

from prompt_toolkit.application import Application, in_terminal
from prompt_toolkit.application.current import set_app
from prompt_toolkit.buffer import Buffer, CompletionState
from prompt_toolkit.completion import Completer
from prompt_toolkit.cursor_shapes import ModalCursorShapeConfig, to_cursor_shape_config
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import DynamicKeyBindings, KeyBindingsBase, merge_key_bindings
from prompt_toolkit.layout import ConditionalContainer, HSplit, Layout, VerticalAlign, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl, SearchBufferControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.processors import BeforeInput, Processor
from prompt_toolkit.layout.screen import Char
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from coderelay.client.i18n import t
from coderelay.surfaces.nonblocking_standard_streams import wait_until_written, waiting
from coderelay.surfaces.terminal.drawing.ansi_styles import without_colours
from coderelay.surfaces.terminal.drawing.width_and_truncation import cut, width_of
from coderelay.surfaces.terminal.input.bracketed_paste_and_focus import REPORT_FOCUS, REPORT_NO_FOCUS, Focus, Keyboard

_PRINT_SECONDS = 0.03
_FRAME_SECONDS = 0.1
_INPUT_ROWS = 10
_LEAST_ROWS = 3  # what stays visible besides the panel: a line of text, the status and the input
_MOST_UNSHOWN = 1 << 16
_ESCAPE_SECONDS = 0.05  # how long to wait for the rest of an Alt key's sequence
MENU_ROWS = 8
_CHOSEN = "reverse"
_MEANING = "fg:ansibrightblack"
_WIDEST = 40
_NARROWEST = 16


class View(Protocol):
    """What the region shows: each part as text with colour codes, or an empty string if there is nothing to show."""

    def tail(self, width: int, rows: int) -> str: ...
    def panel(self, width: int, rows: int) -> str: ...
    def status(self, width: int) -> str: ...
    def prompt(self, width: int) -> str: ...

    @property
    def is_animated(self) -> bool:
        """Whether something in the view changes with time, such as a spinner."""
        ...


class Screen:
    def __init__(self, view: View, bindings: KeyBindingsBase) -> None:
        self._view = view
        self._bindings = bindings
        self._output = _WholeOutput(sys.stdout, _size)
        self._seen: list[StyleAndTextTuples] = [[], [], []]
        self._prompt: StyleAndTextTuples = []
        self._waiting: list[str] = []
        self._flush_at: asyncio.TimerHandle | None = None
        self.is_lent = False
        self.rows_printed = 0
        self._has_colours = not os.environ.get("NO_COLOR")
        self.buffer = Buffer(multiline=True, complete_while_typing=True)
        self._searched = SearchBufferControl(input_processors=[BeforeInput(_search_words)])
        self._input = BufferControl(
            self.buffer, search_buffer_control=self._searched, preview_search=True, focus_on_click=False
        )
        self._focus = Focus()
        self._app: Application[None] = _Resized(
            layout=Layout(self._region(), focused_element=self.buffer),
            key_bindings=merge_key_bindings([self._focus.bindings, DynamicKeyBindings(lambda: self._bindings)]),
            input=Keyboard(sys.stdin),
            output=self._output,
            erase_when_done=True,
            mouse_support=False,
            min_redraw_interval=0.02,
        )
        self._app.before_render += self._look
        self._app.ttimeoutlen = _ESCAPE_SECONDS
        self._app.timeoutlen = _ESCAPE_SECONDS

    async def run(self) -> None:
        """Run until `leave`. The terminal is restored in every case."""
        ticker = asyncio.create_task(self._tick())
        self._output.write_raw(REPORT_FOCUS)
        try:
            await self._app.run_async(handle_sigint=False)
        finally:
            ticker.cancel()
            self._output.write_raw(REPORT_NO_FOCUS)
            self._output.set_title("")
            self._flush()
            self._output.flush()

    def complete_startup(
        self, view: View, bindings: KeyBindingsBase, completer: Completer, history: History, shown: Processor
    ) -> None:
        """Replace the start-up view, and add what takes too long to load for the first prompt. The typed text is
        kept."""
        self._view = view
        self._bindings = bindings
        self.buffer.completer = completer
        self.buffer.history = history
        self.buffer.reset(self.buffer.document)  # otherwise the buffer takes its history for loaded
        self.buffer.load_history_if_not_yet_loaded()
        self._input.input_processors = [shown]
        self.refresh()

    def on_key(self, listener: Callable[[], None]) -> None:
        """Call `listener` before each key is handled."""

        def call_listener(_: object) -> None:
            listener()

        self._app.key_processor.before_key_press += call_listener

    def leave(self) -> None:
        if self._app.is_running and not self._app.is_done:
            self._app.exit()

    def print(self, text: str) -> None:
        """Print above the region, after everything that was printed before."""
        if not text:
            return
        text = text if self._has_colours else without_colours(text)
        text = text if text.endswith("\n") else f"{text}\n"
        self.rows_printed += text.count("\n")
        self._waiting.append(text)
        if self._flush_at is None:
            self._flush_at = asyncio.get_running_loop().call_later(_PRINT_SECONDS, self._flush)

    def print_at_once(self, text: str) -> None:
        """Print text and repaint the region in one write, so that neither is visible without the other."""
        self.print(text)
        if self._flush_at is not None:
            self._flush_at.cancel()
        self._flush()

    def write(self, text: str) -> None:
        """Replace the text of the input."""
        self.buffer.document = Document(text, len(text))

    def refresh(self) -> None:
        self._app.invalidate()

    def clear(self) -> None:
        self._app.renderer.clear()

    def ring(self, message: str) -> None:
        """Send a desktop notification (OSC 9) and ring the terminal bell."""
        if not self.is_lent:
            self._output.write_raw(f"\x1b]9;{message}\x07\x07")
            self._output.flush()

    def send_sequence(self, sequence: str) -> None:
        """Send a control sequence to the terminal, which shows nothing of it."""
        if sequence and not self.is_lent:
            self._output.write_raw(sequence)
            self._output.flush()

    @property
    def has_vi_keys(self) -> bool:
        return self._app.editing_mode == EditingMode.VI

    @has_vi_keys.setter
    def has_vi_keys(self, on: bool) -> None:
        self._app.editing_mode = EditingMode.VI if on else EditingMode.EMACS
        self._app.vi_state.reset()
        self._app.cursor = to_cursor_shape_config(ModalCursorShapeConfig() if on else None)

    def set_title(self, title: str) -> None:
        if not self.is_lent:
            self._output.set_title(title)
            self._output.flush()

    async def lend(self, work: Callable[[], Awaitable[object]]) -> None:
        """Give the whole terminal to another program until `work` is done."""
        self._flush()
        self.is_lent = True
        self._output.write_raw(REPORT_NO_FOCUS)
        try:
            async with in_terminal():
                await wait_until_written(0)  # pending output would mix with the output of the other program
                await work()
        finally:
            self.is_lent = False
            self._output.write_raw(REPORT_FOCUS)
            self._flush()

    @property
    def has_focus(self) -> bool:
        """Whether the terminal has the focus. False if the terminal does not report it, as nobody may be watching."""
        return self._focus.is_known and self._focus.is_here

    @property
    def width(self) -> int:
        return self._output.get_size().columns

    @property
    def rows(self) -> int:
        return self._output.get_size().rows

    def _flush(self) -> None:
        self._flush_at = None
        if self.is_lent or not self._waiting:
            return
        if waiting() > _MOST_UNSHOWN and not self._app.is_done:
            self._flush_at = asyncio.get_running_loop().call_later(_FRAME_SECONDS, self._flush)
            return
        text = "".join(self._waiting)
        self._waiting.clear()
        if not self._app.is_running or self._app.is_done:
            self._output.write_raw(text)
            self._output.flush()
            return
        self._look()
        with self._output.in_one_piece(), set_app(self._app):
            self._app.renderer.erase()
            self._output.write_raw(text)
            self._app.renderer.render(self._app, self._app.layout)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_FRAME_SECONDS)
            if self._view.is_animated:
                self._app.invalidate()

    def _region(self) -> HSplit:
        return HSplit(
            [
                self._part(0),
                self._part(1),
                self._part(2),
                Window(
                    self._input,
                    height=Dimension(min=1, max=_INPUT_ROWS),
                    dont_extend_height=True,
                    wrap_lines=True,
                    get_line_prefix=self._prefix,
                ),
                ConditionalContainer(Window(self._searched, height=1), is_searching),
                self._menu(),
            ],
            align=VerticalAlign.TOP,
        )

    def _look(self, _: object = None) -> None:
        """Read the view once for each repaint."""
        width, rows = self.width, max(1, self.rows - _INPUT_ROWS)
        least = max(1, self.rows - _LEAST_ROWS)
        texts = self._view.tail(width, rows), self._view.panel(width, least), self._view.status(width)
        seen: list[StyleAndTextTuples] = [_painted(text.rstrip("\n")) if text else [] for text in texts]
        # Text that is about to be printed above the region stays visible in the tail until it is printed.
        self._seen = [self._seen[0], *seen[1:]] if self._waiting else seen
        self._prompt = _painted(self._view.prompt(width))

    def _part(self, number: int) -> ConditionalContainer:
        window = Window(FormattedTextControl(lambda: self._seen[number]), dont_extend_height=True, wrap_lines=False)
        return ConditionalContainer(window, Condition(lambda: bool(self._seen[number])))

    def _menu(self) -> ConditionalContainer:
        def lines() -> AnyFormattedText:
            state = self.buffer.complete_state
            return menu_lines(state, self.width, MENU_ROWS) if state is not None else []

        window = Window(FormattedTextControl(lines), dont_extend_height=True, wrap_lines=False)
        is_open = Condition(
            lambda: self.buffer.complete_state is not None and bool(self.buffer.complete_state.completions)
        )
        return ConditionalContainer(window, is_open)

    def _prefix(self, line: int, wrapped: int) -> AnyFormattedText:
        if line == 0 and wrapped == 0:
            return self._prompt
        return "" if wrapped else [("", "… ")]


class _Resized(Application[None]):
    """An application that handles slow terminals and resizing.

    Nothing is painted while the terminal has not read the earlier output: it may have been paused. When a window
    becomes narrower, most terminals reflow the region's lines: it then has more rows than were painted, and all of
    them must be erased."""

    def _redraw(self, render_as_done: bool = False) -> None:
        if waiting() > _MOST_UNSHOWN and not render_as_done:
            asyncio.get_running_loop().call_later(_FRAME_SECONDS, self.invalidate)
        else:
            super()._redraw(render_as_done)

    def _on_resize(self) -> None:
        painted = self.renderer.last_rendered_screen
        if painted is not None and _reflows():
            columns = self.output.get_size().columns
            cursor = painted.get_cursor_position(self.layout.current_window)
            rows = [painted.data_buffer[y] for y in range(cursor.y)]
            more = sum((_columns_of(row) - 1) // columns for row in rows if row)
            self.output.cursor_up(more + cursor.x // columns)
        super()._on_resize()


def _reflows() -> bool:
    """Whether the terminal rewraps lines on a resize. GNU screen, xterm and the Linux console do not."""
    in_screen = bool(os.environ.get("STY")) and not os.environ.get("TMUX")
    return not (in_screen or os.environ.get("XTERM_VERSION") or os.environ.get("TERM") == "linux")


def _columns_of(row: Mapping[int, Char]) -> int:
    return max((x + each.width for x, each in row.items() if each.char.strip()), default=1)


class _WholeOutput(Vt100_Output):
    """A terminal output that can buffer an update and send it in one piece, so that nothing flickers. The cursor
    position is never queried (CPR): the region is only as high as its content, wherever it stands."""

    def __init__(self, stdout: TextIO, get_size: Callable[[], Size]) -> None:
        super().__init__(
            stdout, get_size, term=os.environ.get("TERM"), default_color_depth=ColorDepth.from_env(), enable_cpr=False
        )
        self._is_held = False

    @contextmanager
    def in_one_piece(self) -> Generator[None, None, None]:
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            self.flush()

    def flush(self) -> None:
        if not self._is_held:
            super().flush()

    def erase_down(self) -> None:
        """Never erases from the top left corner: there, some terminals treat it as clearing the screen and put a copy
        of it into the scrollback."""
        self.write_raw("\x1b[2K\x1b[C")
        super().erase_down()
        self.write_raw("\x1b[D")


def _painted(text: str) -> StyleAndTextTuples:
    """Parse the colour codes. Ctrl-A and Ctrl-B are removed, because prompt_toolkit would send the text between them
    to the terminal unchanged."""
    return to_formatted_text(ANSI(text.replace("\x01", "").replace("\x02", "")))


def _search_words() -> AnyFormattedText:
    return [("fg:ansibrightblack", t("search: "))]


def _size() -> Size:
    try:
        found = os.get_terminal_size(sys.stdout.fileno())
    except OSError:  # the terminal is gone; SIGHUP follows
        return Size(rows=24, columns=80)
    return Size(rows=found.lines or 24, columns=found.columns or 80)


def menu_lines(state: CompletionState, width: int, rows: int) -> StyleAndTextTuples:
    """The part of the list around the selected completion: one completion per line, with its description."""
    completions = state.completions
    chosen = state.complete_index
    first = max(0, min((chosen or 0) - rows // 2, len(completions) - rows))
    shown = completions[first : first + rows]
    column = min(_WIDEST, max(width_of(each.display_text) for each in shown))
    if any(each.display_meta_text for each in shown):
        column = min(column, max(_NARROWEST, width // 2 - 3))  # a narrow window has room for both
    lines: StyleAndTextTuples = []
    for number, each in enumerate(shown, first):
        name = cut(each.display_text, min(column, width - 3))
        meaning = cut(each.display_meta_text, max(0, width - column - 6))
        lines.append((_CHOSEN if number == chosen else "", f"  {name}{' ' * (column - width_of(name))}"))
        lines.append((_MEANING, f"  {meaning}\n" if meaning else "\n"))
    if len(completions) > rows:
        lines.append((_MEANING, f"  {first + 1}-{first + len(shown)} / {len(completions)}\n"))
    if lines:
        style, text, *_ = lines[-1]
        lines[-1] = (style, text.rstrip("\n"))
    return lines
