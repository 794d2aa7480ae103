"""Splits streamed text into complete lines."""


class StreamLineBuffer:
    """Splits streamed text into complete lines."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def take(self, text: str) -> list[str]:
        """Take a piece of text. Returns the lines that are complete now, without their line ends (LF, CR LF or
        CR)."""
        if "\n" not in text:
            self._pieces.append(text)
            return []
        first, *others = text.split("\n")
        lines = ["".join([*self._pieces, first]), *others]
        self._pieces = [lines.pop()]
        return [part for line in lines for part in line.removesuffix("\r").split("\r")]

    @property
    def rest(self) -> str:
        """The last line, which is not complete yet."""
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]
