"""Draws tool calls: a line with the tool, its main argument, outcome and duration; then the output or diff."""

from collections.abc import Iterable

import msgspec

from coderelay.client.builtin_tool_specs_loader import tool_specs
from coderelay.client.i18n import retell, t
from coderelay.protocol.calls import Call, Denied, Failed, Finished, Need, Outcome, Stopped, Unknown, one_line
from coderelay.protocol.query_results import Item, Status, TodoArguments
from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.terminal.drawing.ansi_styles import (
    BOLD,
    DIM,
    GREEN,
    MAGENTA,
    RED,
    STRUCK,
    YELLOW,
    paint,
)
from coderelay.surfaces.terminal.drawing.diffs import drawn_diff
from coderelay.surfaces.terminal.drawing.markdown_stream import markdown_lines
from coderelay.surfaces.terminal.drawing.prompt_and_note_lines import duration_text, note
from coderelay.surfaces.terminal.drawing.sanitizing import printable
from coderelay.surfaces.terminal.drawing.width_and_truncation import Shortening, cut, rows_of, width_of
from coderelay.surfaces.terminal.drawing.wrapping import wrapped

_FIRST, _NEXT = "$ ", "  "

_TODO: dict[Status, tuple[str, str]] = {
    "pending": ("☐", ""),
    "in_progress": ("◐", BOLD),
    "completed": ("☑", f"{DIM};{STRUCK}"),
}
_TITLE = 16  # the least number of columns for a title
_BAR = "│ "
_DOT = "● "


def call_line(need: Need, width: int = 80) -> str:
    """The line for a call that starts."""
    name, title = _named(need)
    return (
        f"{paint('●', DIM)} {paint(name, BOLD)}  {cut(title, max(width - width_of(name) - 4, _TITLE))}".rstrip()
        + "\n"
    )


def call_ended(
    need: Need,
    outcome: Outcome,
    ms: int,
    width: int,
    *,
    call: Call | None = None,
    asked: bool = False,
    shortening: Shortening | None = None,
) -> str:
    """Draw a call that has ended. `call` provides what the need does not contain: the list of todos, and the
    arguments of a call that could not run. If the person was `asked` here, what the ask showed is not shown again."""
    shortening = shortening or Shortening()
    if asked and need.questions and isinstance(outcome, Finished):
        return ""  # the questions and the answers were printed one by one
    _, title = _named(need, call)
    _, colour = _mark(outcome)
    room = width - len(_DOT)
    result, is_short = _short_result(need, outcome, room)
    line, room = _summary(need, outcome, ms, room, call)
    rows = ["", f"{paint(_DOT.rstrip(), colour)} {line}"]
    if not asked and need.problem is None and (width_of(title) > room or "\n" in need.title.strip()):
        rows += shortening.other(_whole(need, width))
    if not is_short:
        rows += behind_bar(wrapped(result, within(width), colour))
    rows += _body(need, outcome, width, shortening, asked=asked)
    if isinstance(outcome, Finished):
        rows += _todos(call, width) if _gives_todos(need) and call is not None else []
        rows += _feedback(outcome.feedback, width) if outcome.feedback else []
    return "".join(f"{row}\n" for row in rows)


def call_summary(need: Need, outcome: Outcome, ms: int, width: int) -> str:
    """A call that has ended, in one line."""
    return _summary(need, outcome, ms, width, None)[0]


def call_name(need: Need) -> tuple[str, str]:
    """The tool's name and the title of a call, each in one line."""
    return _named(need)


def _summary(need: Need, outcome: Outcome, ms: int, width: int, call: Call | None) -> tuple[str, int]:
    """The line for a call that has ended, and the columns that its title may have had."""
    name, title = _named(need, call)
    mark, colour = _mark(outcome)
    result, is_short = _short_result(need, outcome, width)
    told = " · ".join([*([duration_text(ms)] if ms else []), *([result] if result and is_short else [])])
    room = max(width - width_of(f"{name}    {mark} {told}"), _TITLE)
    ending = f"{paint(mark, colour)} {paint(told, DIM if colour == GREEN else colour)}".rstrip()
    return f"{paint(name, BOLD)}  {cut(title, room)}".rstrip() + f"  {ending}", room


def _short_result(need: Need, outcome: Outcome, width: int) -> tuple[str, bool]:
    """What the call brought, in one line, and whether that fits beside its title."""
    result = _result(need, outcome)
    return result, width_of(result) <= width // 2


def _named(need: Need, call: Call | None = None) -> tuple[str, str]:
    """The tool's name and the title of the call, each in one line."""
    name, title = need.tool, need.title if need.problem is None else _wanted(call)
    if _gives_todos(need):
        title = retell(title, need.said)
    if need.kind == "mcp":  # the title is `server: tool {…}`
        server, tool, *arguments = title.split(" ", 2)
        name, title = f"{server} {tool}", "".join(arguments)
    first, *others = visible(title).strip().split("\n")
    return visible(name), f"{first} …" if others else first


def _wanted(call: Call | None) -> str:
    """The title of a call that could not run: its headline argument, or all arguments as the model wrote them."""
    if call is None:
        return ""
    try:
        arguments = msgspec.json.decode(call.arguments, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        arguments = {}
    headline = arguments.get(tool_specs().spec_of(call.name).headline or "")
    return headline if isinstance(headline, str) and headline else " ".join(call.arguments.split())


def gives_todos(tool: str) -> bool:
    """Whether calls of this tool set the todo list."""
    return tool_specs().spec_of(tool).result_shown == "todos"


def begun_list(call: Call, width: int) -> str:
    """The line for the todo list that coder began itself; the model's own list is shown in full."""
    from coderelay.client.todo_text import begun_list_text  # loaded with the first list

    return note(begun_list_text(len(_items(call))), width)


def _gives_todos(need: Need) -> bool:
    """Whether the call sets the todo list. The title of such a call is our own text, which the list below it
    repeats."""
    return gives_todos(need.tool)


def _whole(need: Need, width: int) -> list[str]:
    """The full title that did not fit in the line, unless it is shown in another way."""
    if need.command is not None:
        return behind_bar(drawn_command(need.command, within(width)))
    if need.kind in ("ask", "edit") or _gives_todos(need):
        return []
    return behind_bar(row for line in visible(need.title).split("\n") for row in wrapped(line, within(width)))


def _mark(outcome: Outcome) -> tuple[str, str]:
    match outcome:
        case Finished() if outcome.exit_code:  # a person's own shell command; a failure may be what they wanted
            return "✗", YELLOW
        case Finished():
            return "✓", GREEN
        case Failed():
            return "✗", RED
        case Denied():
            return "⊘", YELLOW
        case Stopped():
            return "■", YELLOW
        case Unknown():
            return "?", MAGENTA


def _result(need: Need, outcome: Outcome) -> str:
    if (code := _exit_code(outcome)) is not None:
        return t("exit code {code}", code=code)  # the duration is already in the line
    told = one_line(outcome)
    if _gives_todos(need) and told == need.title:
        return ""
    return " ".join(visible(retell(told)).split())


def _exit_code(outcome: Outcome) -> int | None:
    if isinstance(outcome, Finished) and outcome.exit_code is not None:
        return outcome.exit_code
    end = outcome.end if isinstance(outcome, Finished | Failed) else None
    return end.exit_code if end is not None and not end.cause else None


def _body(need: Need, outcome: Outcome, width: int, shortening: Shortening, *, asked: bool) -> list[str]:
    match outcome:
        case Finished():
            return _result_lines(need, outcome, width, shortening, asked=asked)
        case Failed():
            first, _, rest = outcome.message.partition("\n")
            text = outcome.message if outcome.summary and outcome.summary != first else rest
            return shortening.output(drawn_output(text, width)) if text.strip() else []
        case Stopped():
            output = outcome.output.rstrip("\n")
            return shortening.output(drawn_output(output, width)) if output.strip() else []
        case Denied() | Unknown():
            return []


def _result_lines(need: Need, outcome: Finished, width: int, shortening: Shortening, *, asked: bool) -> list[str]:
    if need.diff:
        return [] if asked else shortening.other(behind_bar(drawn_diff(need.diff, within(width))))
    if need.plan is not None:
        return [] if asked else shortening.other(behind_bar(markdown_lines(need.plan, within(width))))
    if need.questions:
        return drawn_output(outcome.output, width, "")
    match tool_specs().spec_of(need.tool).result_shown:
        case "markdown":
            return shortening.output(behind_bar(markdown_lines(outcome.output, within(width))))
        case "summary" | "todos":
            return []
        case "output":
            pass
    rows = drawn_output(outcome.output.strip("\n"), width) if outcome.output.strip() else []
    rows += drawn_output(outcome.errors.strip("\n"), width, YELLOW) if outcome.errors.strip() else []
    return shortening.output(rows)


def _todos(call: Call, width: int) -> list[str]:
    return [row for item in _items(call) for row in _todo(item, width)]


def _items(call: Call) -> tuple[Item, ...]:
    try:
        return msgspec.json.decode(call.arguments, type=TodoArguments).items
    except msgspec.DecodeError:
        return ()


def _todo(item: Item, width: int) -> list[str]:
    mark, style = _TODO[item.status]
    rows = wrapped(" ".join(visible(item.content).split()), max(width - 4, 8), style)
    return [f"  {mark if not number else ' '} {row}" for number, row in enumerate(rows)]


def _feedback(text: str, width: int) -> list[str]:
    told = t("hook: {text}", text=visible(text))
    return behind_bar(row for line in told.split("\n") for row in wrapped(line, within(width), YELLOW))


def drawn_output(text: str, width: int, style: str = DIM) -> list[str]:
    """Draw the output of a tool. Its own colours are kept."""
    text = printable(text, keep_colours=True).expandtabs(8)
    room = within(width)
    return behind_bar(paint(row, style) for line in text.split("\n") for row in rows_of(line.rstrip(), room))


def behind_bar(lines: Iterable[str], style: str = DIM, bar: str = _BAR) -> list[str]:
    mark, bare = paint(bar, style), paint(bar.rstrip(), style)
    return [f"{mark}{line}" if line else bare for line in lines]


def within(width: int) -> int:
    return max(width - len(_BAR), 8)


def drawn_command(command: str, width: int) -> list[str]:
    from coderelay.surfaces.terminal.drawing.syntax_highlighting import (
        drawn_code,  # loaded late: most sessions show no command
    )

    lines = drawn_code(command.expandtabs(4), "bash")
    rows = [row for line in lines for row in rows_of(line, max(width - len(_FIRST), 8))]
    return [f"{_NEXT if number else _FIRST}{row}" for number, row in enumerate(rows)]
