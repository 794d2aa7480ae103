"""A text that a record brings in English and in Chinese. `coder --help` reads such records: this imports nothing."""


class Localized:
    """Any further language translates `english` in its own file."""

    __slots__ = ("chinese", "english")

    def __init__(self, english: str, chinese: str) -> None:
        self.english = english
        self.chinese = chinese
