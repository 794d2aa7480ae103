"""Notifies a person whose focus is on another window, and shows the session's state in the terminal title."""

import os
import time

from coderelay.client.i18n import t
from coderelay.protocol.projected_rows import Summary
from coderelay.surfaces.terminal.drawing.sanitizing import printable
from coderelay.surfaces.terminal.screen import Screen

_LONG_SECONDS = 10.0


class Notifier:
    """Rings when an ask opens or a turn of 10 seconds or more ends, unless the terminal has the focus."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._name = ""
        self._begun_at = 0.0
        self._is_asking = False
        self._is_busy = False

    def show_session(self, row: Summary) -> None:
        self._begun_at = time.monotonic()
        self._is_busy, self._is_asking = row.turn_open, False
        self.name(row)

    def name(self, row: Summary) -> None:
        self._name = printable(row.title or os.path.basename(row.cwd) or row.cwd).replace("\n", " ")
        self._show()

    def turn_began(self) -> None:
        self._begun_at = time.monotonic()
        self._is_busy = True
        self._show()

    def ended(self) -> None:
        took = time.monotonic() - self._begun_at
        self._is_busy = self._is_asking = False
        self._show()
        if took >= _LONG_SECONDS and not self._screen.has_focus:
            self._screen.ring(t("coder is done: {name}", name=self._name))

    def asked(self) -> None:
        self._is_asking = True
        self._show()
        if not self._screen.has_focus:
            self._screen.ring(t("coder needs your answer: {name}", name=self._name))

    def nothing_asked(self) -> None:
        if self._is_asking:
            self._is_asking = False
            self._show()

    def _show(self) -> None:
        mark = "? " if self._is_asking else "● " if self._is_busy else ""
        self._screen.set_title(f"{mark}coder · {self._name}")
