"""Text that arrives in pieces, as lines."""


class Arriving:
    def __init__(self) -> None:
        self._pieces: list[str] = []

    def take(self, text: str) -> list[str]:
        """The lines that are whole now, without their ends, of whatever system these are."""
        if "\n" not in text:
            self._pieces.append(text)
            return []
        first, *others = text.split("\n")
        lines = ["".join([*self._pieces, first]), *others]
        self._pieces = [lines.pop()]
        return [part for line in lines for part in line.removesuffix("\r").split("\r")]

    @property
    def rest(self) -> str:
        """The line that is not."""
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]
