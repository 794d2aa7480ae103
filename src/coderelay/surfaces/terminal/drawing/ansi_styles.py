"""Colours and styles of terminal text: the escape codes, painting with them, and removing them."""

import re

RESET = "\x1b[0m"
DIM, BOLD, ITALIC, UNDERLINED, STRUCK = "2", "1", "3", "4", "9"
RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN = "31", "32", "33", "34", "35", "36"
_CODES = re.compile(r"\x1b\[[0-9;]*m")


def paint(text: str, style: str) -> str:
    """Style a line or a part of one. Colours inside the text are kept, and `style` is restored after each of them."""
    if not style or not text:
        return text
    start = f"\x1b[{style}m"
    return f"{start}{text.replace(RESET, RESET + start)}{RESET}"


def without_colours(text: str) -> str:
    return _CODES.sub("", text)
