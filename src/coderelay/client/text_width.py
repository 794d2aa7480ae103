"""Columns of text in a terminal: measuring and padding."""

from unicodedata import combining, east_asian_width


def width_of(text: str) -> int:
    return sum(0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in text)


def padded(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))
