"""One of several things, chosen with the arrow keys; what is typed meanwhile narrows the list down."""

from collections.abc import Sequence

from msgspec import Struct

from coderelay.client.language import t
from coderelay.surfaces.terminal.drawing.columns import cut, width_of
from coderelay.surfaces.terminal.drawing.printable import printable

_DIM, _BOLD, _REVERSE, _PLAIN = (f"\x1b[{n}m" for n in (2, 1, 7, 0))
_ROWS = 10
_WIDEST = 48


class Choice(Struct, frozen=True):
    """`line` is what is sent as if it had been typed, when this is chosen."""

    line: str
    name: str
    meaning: str = ""


class Picker:
    def __init__(self, heading: str, choices: Sequence[Choice]) -> None:
        self._heading = heading
        self._choices = list(choices)
        self._words: list[str] = []
        self._index = 0

    @property
    def chosen(self) -> Choice | None:
        left = self._left()
        return left[self._index] if left else None

    def narrow(self, text: str) -> None:
        """Only those with all these words in them."""
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
        help_line = t("↑ ↓ choose · Enter takes it · Esc leaves · typing narrows it down")
        lines = [f"{_BOLD}{self._heading}{_PLAIN} {_DIM}{len(left)}/{len(self._choices)} · {help_line}{_PLAIN}"]
        for number, each in enumerate(shown, first):
            name = cut(_one_line(each.name), column)
            name += " " * (column - width_of(name))
            mark = f"{_REVERSE}❯ {name}{_PLAIN}" if number == self._index else f"  {name}"
            lines.append(f"{mark}  {_DIM}{cut(_one_line(each.meaning), width - column - 6)}{_PLAIN}")
        return "\n".join(lines)

    def _left(self) -> list[Choice]:
        return [
            each
            for each in self._choices
            if all(word in f"{each.name} {each.meaning}".casefold() for word in self._words)
        ]


def _one_line(text: str) -> str:
    """Names of files and titles are chosen by anyone."""
    return " ".join(printable(text).split())
