"""Draws the live region of an open session: streamed tail, asks, queued prompts, status line and input prompt."""

import time

from coderelay.client.i18n import t
from coderelay.client.permission_ask_text import sandbox_in_words
from coderelay.client.typed_model_name import GUIDE
from coderelay.protocol.ids import AskId
from coderelay.protocol.modes import mode_spec
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.query_results import PermissionsShown
from coderelay.surfaces.terminal.answer_line_parser import AnswerParser
from coderelay.surfaces.terminal.ask_and_prompt_queues import AskQueue, WaitingPrompts
from coderelay.surfaces.terminal.ask_menu import AskMenu
from coderelay.surfaces.terminal.drawing.ansi_styles import without_colours
from coderelay.surfaces.terminal.drawing.sanitizing import printable
from coderelay.surfaces.terminal.drawing.width_and_truncation import cut, short_path, width_of
from coderelay.surfaces.terminal.picker import Picker
from coderelay.surfaces.terminal.session_renderer import SessionRenderer

_DIM, _BOLD, _RED, _GREEN, _YELLOW, _CYAN, _PLAIN = (f"\x1b[{n}m" for n in (2, 1, 31, 32, 33, 36, 0))
_COLOURS = {"cyan": _CYAN, "green": _GREEN, "yellow": _YELLOW, "red": _RED}
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_WAITING_SHOWN = 3
_TAIL_ROWS = 10
_BETWEEN = " · "


class LiveRegionView:
    """The view of an open session. Others set its fields; it only renders them."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.summary: Summary | None = None
        self.permissions: PermissionsShown | None = None
        self.renderer: SessionRenderer | None = None
        self.asks: AskQueue | None = None
        self.answer_parser = AnswerParser()
        self.waiting = WaitingPrompts()
        self.picker: Picker | None = None
        self.ask_on_screen: AskId | None = None  # answers are offered only below what they are about
        self._menu: tuple[tuple[AskId, tuple[int, int]], AskMenu] | None = None
        self.hint = ""
        self.busy_since: float | None = None

    @property
    def menu(self) -> AskMenu | None:
        """The answers to the first open ask; None if none is open."""
        asked = self.asks.first if self.asks is not None else None
        if asked is None:
            self._menu = None
            return None
        place = self.answer_parser.place(asked.ask)
        if self._menu is None or self._menu[0] != (asked.ask.id, place):
            self._menu = (asked.ask.id, place), AskMenu(self.answer_parser.current(asked.ask), place)
        return self._menu[1]

    @property
    def is_animated(self) -> bool:
        return self.busy_since is not None and not self._is_asked()

    def tail(self, width: int, rows: int) -> str:
        return self.renderer.tail(width, min(rows, _TAIL_ROWS)) if self.renderer is not None else ""

    def panel(self, width: int, rows: int) -> str:
        if self.picker is not None:
            return self.picker.lines(width)
        lines = [*self._waiting_lines(width), *self._ask_lines(width, rows)]
        if self.hint:
            lines.append(f"{_DIM}{_in_rows(self.hint, width)}{_PLAIN}")
        return "\n".join(lines)

    def status(self, width: int) -> str:
        row = self.summary
        if row is None:
            return f"{_DIM}…{_PLAIN}"
        tokens = [t("{tokens} tokens", tokens=f"{row.context_tokens:,}")] if row.model != GUIDE else []
        facts = [*tokens, printable(row.model)]
        sandbox, is_off = self._sandbox()
        unasked = t("{profile}: tools run without asking", profile=row.profile) if row.profile else ""
        facts = [*filter(None, (unasked, *facts, sandbox))]
        if row.cost is not None:
            facts.append(f"${row.cost:.4f}")
        if row.background:
            facts.append(t("background commands: {number}", number=row.background))
        busy = self._busy()
        text = cut(" · ".join(facts), max(20, width - width_of(without_colours(busy)) - 1))
        for warning in (unasked, sandbox if is_off else ""):
            text = text.replace(warning, f"{_PLAIN}{_RED}{warning}{_PLAIN}{_DIM}", 1) if warning else text
        return f"{_DIM}{text}{_PLAIN}{busy}"

    def prompt(self, width: int) -> str:
        mode = self.summary.mode if self.summary is not None else ""
        shown = f" {_COLOURS[mode_spec(mode).colour]}{mode}{_PLAIN}" if mode else ""
        return f"{_BOLD}{printable(short_path(self.folder, width))}{_PLAIN}{shown} ❯ "

    def _sandbox(self) -> tuple[str, bool]:
        """What commands run in, and whether that is no sandbox at all."""
        shown = self.permissions
        if shown is None or not shown.sandbox:
            return "", False
        is_off = shown.sandbox == "none" or not shown.confined
        return t("sandbox: {sandbox}", sandbox=sandbox_in_words(shown)), is_off

    def _busy(self) -> str:
        if self._is_asked():
            return f" {_YELLOW}? {t('waiting for you')}{_PLAIN}"
        if self.busy_since is None:
            return ""
        seconds = time.monotonic() - self.busy_since
        turn = _SPINNER[int(seconds * 10) % len(_SPINNER)]
        return f" {_CYAN}{turn} {int(seconds)}s{_PLAIN} {_DIM}{t('Esc stops')}{_PLAIN}"

    def _is_asked(self) -> bool:
        return self.asks is not None and self.asks.first is not None

    def _waiting_lines(self, width: int) -> list[str]:
        prompts = list(self.waiting)
        lines = [
            cut(f"⧖ {t('for this turn') if each.steer else t('queued')}: {_one_line(each.typed_text)}", width - 1)
            for each in prompts[:_WAITING_SHOWN]
        ]
        if len(prompts) > _WAITING_SHOWN:
            lines.append(t("… and {number} more; /queue shows all", number=len(prompts) - _WAITING_SHOWN))
        return [f"{_DIM}{line}{_PLAIN}" for line in lines]

    def _ask_lines(self, width: int, rows: int) -> list[str]:
        menu = self.menu
        if menu is None or self.asks is None or self.asks.first is None:
            return []
        is_on_screen = self.asks.first.ask.id == self.ask_on_screen
        return menu.lines(width, rows, len(self.asks.batch)) if is_on_screen else []


def _one_line(text: str) -> str:
    return printable(" ⏎ ".join(line.strip() for line in text.strip().splitlines()))


def _in_rows(hint: str, width: int) -> str:
    """The hint, with lines that are too long broken between the facts in them."""
    rows: list[str] = []
    for line in hint.split("\n"):
        row, *others = line.split(_BETWEEN)
        for fact in others:
            if width_of(longer := f"{row}{_BETWEEN}{fact}") > width:
                rows.append(row)
                longer = fact
            row = longer
        rows.append(row)
    return "\n".join(rows)
