"""Draws the completion menu under the input line."""

from prompt_toolkit.buffer import CompletionState
from prompt_toolkit.formatted_text import StyleAndTextTuples

from coderelay.surfaces.terminal.drawing.columns import cut, width_of

_CHOSEN = "reverse"
_MEANING = "fg:ansibrightblack"
_WIDEST = 40


def menu_lines(state: CompletionState, width: int, rows: int) -> StyleAndTextTuples:
    """The part of the list around the selected completion: one completion per line, with its description."""
    completions = state.completions
    chosen = state.complete_index
    first = max(0, min((chosen or 0) - rows // 2, len(completions) - rows))
    shown = completions[first : first + rows]
    column = min(_WIDEST, max(width_of(each.display_text) for each in shown))
    lines: StyleAndTextTuples = []
    for number, each in enumerate(shown, first):
        name = cut(each.display_text, min(column, width - 3))
        meaning = cut(each.display_meta_text, max(0, width - column - 6))
        lines.append((_CHOSEN if number == chosen else "", f"  {name}{' ' * (column - width_of(name))}"))
        lines.append((_MEANING, f"  {meaning}\n" if meaning else "\n"))
    if len(completions) > rows:
        lines.append((_MEANING, f"  {first + 1}-{first + len(shown)} / {len(completions)}\n"))
    if lines:
        style, text, *_ = lines[-1]
        lines[-1] = (style, text.rstrip("\n"))
    return lines
