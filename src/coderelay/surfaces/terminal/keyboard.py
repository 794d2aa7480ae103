"""What comes from the terminal, as keys. A long paste is looked through once, and not again with each piece of it."""

from collections.abc import Callable
from typing import TextIO

from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

_END = "\x1b[201~"


class Keyboard(Vt100Input):
    def __init__(self, stdin: TextIO) -> None:
        super().__init__(stdin)
        self.vt100_parser = PasteParser(lambda key: self._buffer.append(key))


class PasteParser(Vt100Parser):
    def __init__(self, feed_key_callback: Callable[[KeyPress], None]) -> None:
        self._pieces: list[str] = []
        self._last = ""  # characters, among which the end may have begun
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
