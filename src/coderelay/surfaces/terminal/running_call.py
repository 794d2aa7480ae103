"""A call at work: how long already, and the end of what it prints."""

import time

from coderelay.protocol.calls import Need
from coderelay.surfaces.terminal.drawing.calls import call_line
from coderelay.surfaces.terminal.drawing.columns import cut
from coderelay.surfaces.terminal.drawing.printable import printable

_KEPT = 4_000
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


class RunningCall:
    def __init__(self, need: Need) -> None:
        self._need = need
        self._begun_at = time.monotonic()
        self._output = ""

    def hear(self, text: str) -> None:
        self._output = (self._output + text)[-_KEPT:]

    def tail(self, width: int, rows: int) -> str:
        seconds = int(time.monotonic() - self._begun_at)
        line = call_line(self._need).rstrip("\n")
        shown = [f"{line} {_DIM}{seconds}s{_PLAIN}"]
        lines = printable(self._output).expandtabs().splitlines()
        for each in lines[1 - rows :] if rows > 1 else ():
            shown.append(f"{_DIM}│ {cut(each, width - 3)}{_PLAIN}")
        return "\n".join(shown) + "\n"
