"""A text that is declared in English and in Chinese.

`coder --help` reads such texts, so this file imports nothing.
"""


class Localized:
    """An English text with its Chinese translation. Other languages translate `english` in their own language
    file."""

    __slots__ = ("chinese", "english")

    def __init__(self, english: str, chinese: str) -> None:
        self.english = english
        self.chinese = chinese
