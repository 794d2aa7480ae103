"""The answers to an open ask as a menu: arrow keys and Enter choose one, and its key answers at once."""

from coderelay.client.ask_view import AskOption, headline, view_of
from coderelay.client.i18n import t
from coderelay.protocol.asks import Ask, PermissionAsk
from coderelay.surfaces.terminal.drawing.ansi_styles import without_colours
from coderelay.surfaces.terminal.drawing.sanitizing import printable
from coderelay.surfaces.terminal.drawing.width_and_truncation import cut, width_of
from coderelay.surfaces.terminal.drawing.wrapping import wrapped

_DIM, _BOLD, _YELLOW, _CYAN, _PLAIN = (f"\x1b[{n}m" for n in (2, 1, 33, 36, 0))
_MARK, _SPACE = "❯ ", "  "
_ROWS = 10


class AskMenu:
    """The menu of one ask, or of one question of it. `place` is the number of the question and the number of
    questions."""

    def __init__(self, ask: Ask, place: tuple[int, int] = (1, 1)) -> None:
        self._is_permission = isinstance(ask, PermissionAsk)
        self._headline = headline(ask) if self._is_permission else ""
        self._shown = view_of(ask)
        self._place = place
        self._index = 0
        self._checked: set[int] = set()

    def __len__(self) -> int:
        return len(self._shown.options)

    def has_key(self, key: str) -> bool:
        """Whether this key alone, without Enter, is an answer."""
        return key in self._shown.keys

    def move(self, by: int) -> None:
        if self._shown.options:
            self._index = (self._index + by) % len(self._shown.options)

    def mark(self, number: str) -> bool:
        """Mark an option by its number, for people who know menus with numbers: other tools have other options in
        other places, so that a number alone does not answer. Returns False if it is no number of this menu."""
        is_number = number.isdecimal() and 1 <= int(number) <= len(self) and not self.has_key(number)
        if not is_number or self._shown.open_ended:
            return False
        self._index = int(number) - 1
        return True

    @property
    def takes_reason(self) -> bool:
        """Whether a refusal may say what to do instead."""
        return self._is_permission

    def toggle(self) -> bool:
        """Check or uncheck the marked option. Returns False if only one can be chosen."""
        if self._shown.multi_select:
            self._checked ^= {self._index}
        return self._shown.multi_select

    @property
    def answer(self) -> str:
        """What a person would type for the option that is marked, or for those that are checked."""
        chosen = sorted(self._checked) if self._checked else [self._index]
        return ", ".join(self._shown.options[each].answer for each in chosen) if self._shown.options else ""

    def lines(self, width: int, rows: int, waiting: int) -> list[str]:
        """Draw the menu in at most so many rows. `waiting` is the number of calls that wait together."""
        facts = [f"{self._place[0]}/{self._place[1]}"] if self._place[1] > 1 else []
        facts += [t("{number} to approve: y all allows all, n all denies all", number=waiting)] if waiting > 1 else []
        told = " · ".join([*facts, self._help()])
        heading = cut(_one_line(self._headline), max(width - width_of(told) - 4, width * 2 // 3))
        heading = f"{_YELLOW}{_BOLD}{heading}{_PLAIN}  " if heading else ""
        lines = [f"{heading}{_DIM}{cut(told, width - width_of(without_colours(heading)) - 1)}{_PLAIN}"]
        most = max(1, min(_ROWS, rows - 1))
        first = max(0, min(self._index - most // 2, len(self) - most))
        parts = [self._option(number, width) for number in range(first, min(first + most, len(self)))]
        is_long = sum(map(len, parts)) > max(most, rows - 1)
        return lines + [line for part in parts for line in (part[:1] if is_long else part)]

    def _help(self) -> str:
        if not self._shown.options:
            return self._shown.choices
        if self._shown.multi_select:
            return t("↑ ↓ move · Space toggles · Enter submits, or type your own answer")
        if self._shown.open_ended:
            return t("↑ ↓ move · Enter selects, or type your own answer")
        return t("↑ ↓ move · Enter selects, or press a key")

    def _option(self, number: int, width: int) -> list[str]:
        """An option, with its meaning beside it, or below it if there is not enough room."""
        each = self._shown.options[number]
        is_marked = number == self._index
        box = ("☑ " if number in self._checked else "☐ ") if self._shown.multi_select else ""
        start = f"{_MARK if is_marked else _SPACE}{_key(each)}{box}"
        label = cut(_one_line(each.label), max(width - width_of(start) - 1, 8))
        style = f"{_CYAN}{_BOLD}" if is_marked else ""
        line, meaning = f"{style}{start}{label}{_PLAIN}", _one_line(each.meaning)
        room = width - width_of(start) - 1
        if not meaning:
            return [line]
        if width_of(meaning) <= room - width_of(label) - 2:
            return [f"{line}  {_DIM}{meaning}{_PLAIN}"]
        margin = " " * width_of(start)
        return [line, *(f"{margin}{_DIM}{row}{_PLAIN}" for row in wrapped(meaning, max(room, 8)))]


def _key(option: AskOption) -> str:
    return f"{option.key or ' '}  "


def _one_line(text: str) -> str:
    return " ".join(printable(text).split())
