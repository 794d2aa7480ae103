"""A list to pick from: arrow keys select an entry, typing filters the list."""

from collections.abc import Sequence

from msgspec import Struct

from coderelay.client.i18n import t
from coderelay.surfaces.terminal.drawing.sanitizing import printable
from coderelay.surfaces.terminal.drawing.width_and_truncation import cut, width_of

_DIM, _BOLD, _REVERSE, _PLAIN = (f"\x1b[{n}m" for n in (2, 1, 7, 0))
_ROWS = 10
_WIDEST = 48


class PickerChoice(Struct, frozen=True):
    """One entry of a picker. Choosing it sends `line` as if it had been typed."""

    line: str
    name: str
    meaning: str = ""


class Picker:
    def __init__(self, heading: str, choices: Sequence[PickerChoice]) -> None:
        self._heading = heading
        self._choices = list(choices)
        self._words: list[str] = []
        self._index = 0

    def __len__(self) -> int:
        return len(self._left())

    @property
    def chosen(self) -> PickerChoice | None:
        left = self._left()
        return left[self._index] if left else None

    def filter(self, text: str) -> None:
        """Show only the entries that contain all these words."""
        self._words = text.casefold().split()
        self._index = 0

    def move(self, by: int) -> None:
        if left := self._left():
            self._index = (self._index + by) % len(left)

    def lines(self, width: int) -> str:
        left = self._left()
        first = max(0, min(self._index - _ROWS // 2, len(left) - _ROWS))
        shown = left[first : first + _ROWS]
        column = min(_WIDEST, max((width_of(_one_line(each.name)) for each in shown), default=0))
        help_line = t("↑ ↓ move · Enter selects · Esc cancels · type to filter")
        lines = [f"{_BOLD}{self._heading}{_PLAIN} {_DIM}{len(left)}/{len(self._choices)} · {help_line}{_PLAIN}"]
        for number, each in enumerate(shown, first):
            name = cut(_one_line(each.name), column)
            name += " " * (column - width_of(name))
            mark = f"{_REVERSE}❯ {name}{_PLAIN}" if number == self._index else f"  {name}"
            lines.append(f"{mark}  {_DIM}{cut(_one_line(each.meaning), width - column - 6)}{_PLAIN}")
        return "\n".join(lines)

    def _left(self) -> list[PickerChoice]:
        return [
            each
            for each in self._choices
            if all(word in f"{each.name} {each.meaning}".casefold() for word in self._words)
        ]


def _one_line(text: str) -> str:
    """Sanitize for display: file names and titles may contain escape sequences and line ends."""
    return " ".join(printable(text).split())
