"""A command for the shell, word for word."""

from coderelay.surfaces.terminal.drawing.columns import rows_of

_FIRST, _NEXT = "$ ", "  "


def drawn_command(command: str, width: int) -> list[str]:
    from coderelay.surfaces.terminal.drawing.code import drawn_code  # most sessions show none

    lines = drawn_code(command.expandtabs(4), "bash")
    rows = [row for line in lines for row in rows_of(line, max(width - len(_FIRST), 8))]
    return [f"{_NEXT if number else _FIRST}{row}" for number, row in enumerate(rows)]
