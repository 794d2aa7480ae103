"""Input from a VT100 terminal besides plain keys: bracketed pastes, and whether its window has the focus."""

from collections.abc import Callable
from typing import TextIO

from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

REPORT_FOCUS, REPORT_NO_FOCUS = "\x1b[?1004h", "\x1b[?1004l"  # focus reporting on, off
_CAME, _WENT = Keys.ControlF23, Keys.ControlF24  # focus gained and lost, as keys that no keyboard has
ANSI_SEQUENCES["\x1b[I"] = _CAME
ANSI_SEQUENCES["\x1b[O"] = _WENT
_END = "\x1b[201~"  # the end of a bracketed paste


class Focus:
    """Tracks whether the terminal window has the focus, from the focus events that the terminal reports."""

    def __init__(self) -> None:
        self.is_known = False
        self.is_here = True
        self.bindings = KeyBindings()
        self.bindings.add(_CAME)(self._on_focus_in)
        self.bindings.add(_WENT)(self._on_focus_out)

    def _on_focus_in(self, _: KeyPressEvent) -> None:
        self.is_known = self.is_here = True

    def _on_focus_out(self, _: KeyPressEvent) -> None:
        self.is_known, self.is_here = True, False


class Keyboard(Vt100Input):
    """Terminal input that uses the faster PasteParser."""

    def __init__(self, stdin: TextIO) -> None:
        super().__init__(stdin)
        self.vt100_parser = PasteParser(lambda key: self._buffer.append(key))


class PasteParser(Vt100Parser):
    """Collects a bracketed paste in pieces, so that a long paste takes linear time."""

    def __init__(self, feed_key_callback: Callable[[KeyPress], None]) -> None:
        self._pieces: list[str] = []
        self._last = ""  # the last characters, in which the end sequence may have begun
        super().__init__(feed_key_callback)

    def feed(self, data: str) -> None:
        if not self._in_bracketed_paste:
            super().feed(data)
            return
        recent = self._last + data
        self._pieces.append(data)
        self._last = recent[1 - len(_END) :]
        if _END not in recent:
            return
        pasted, _, rest = "".join(self._pieces).partition(_END)
        self._pieces, self._last = [], ""
        self._in_bracketed_paste = False
        self.feed_key_callback(KeyPress(Keys.BracketedPaste, pasted))
        self.feed(rest)
