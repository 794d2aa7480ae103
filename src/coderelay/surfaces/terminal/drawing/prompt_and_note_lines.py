"""Draws short texts: prompts, notes, errors, command results, ends of turns and the greeting.

A text that stands on its own, such as a prompt or the end of a turn, begins with an empty line.
"""

from coderelay.client.i18n import retell, t
from coderelay.protocol.events import Ending, TurnEnded
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.usage_and_cost import Usage
from coderelay.surfaces.terminal.drawing.ansi_styles import BOLD, CYAN, DIM, GREEN, RED, YELLOW, paint
from coderelay.surfaces.terminal.drawing.sanitizing import printable
from coderelay.surfaces.terminal.drawing.width_and_truncation import Shortening
from coderelay.surfaces.terminal.drawing.wrapping import in_width, wrapped

_ENDINGS: dict[Ending, tuple[str, str, str]] = {
    "done": ("✓", GREEN, ""),
    "failed": ("✗", RED, "failed"),
    "stopped": ("■", YELLOW, "stopped"),
    "step_limit": ("■", YELLOW, "step limit reached"),
}


def user_line(text: str, width: int, shortening: Shortening | None = None) -> str:
    """A prompt, as the person wrote it."""
    rows = [row for line in printable(text.strip()).split("\n") for row in wrapped(line, max(width - 2, 1), BOLD)]
    rows = shortening.other(rows, "") if shortening is not None else rows
    return "\n" + _lines(rows, paint("❯ ", CYAN))


def note(text: str, width: int) -> str:
    """A dim note in parentheses."""
    return "".join(f"{paint(row, DIM)}\n" for row in in_width(t("({text})", text=printable(text.strip())), width))


def error_line(text: str, width: int) -> str:
    rows = in_width(printable(text), max(width - 2, 1))
    return "".join(f"{paint(f'  {row}' if number else f'✗ {row}', RED)}\n" for number, row in enumerate(rows))


def plain(text: str, width: int) -> str:
    """The text that a slash command returns."""
    return "".join(f"{row}\n" for row in in_width(printable(text).removesuffix("\n"), width))


def turn_end(event: TurnEnded, width: int) -> str:
    """The summary line of a turn: its ending, duration, steps, tokens and cost."""
    mark, colour, told = _ENDINGS[event.ending]
    facts = [*([t(told)] if told else []), duration_text(event.ms), *_steps(event.steps), *_tokens(event.usage)]
    facts += [f"${event.cost:.4f}"] if event.cost is not None else []
    rows = wrapped(f"{mark} {' · '.join(facts)}", width, DIM)
    rows[0] = paint(mark, colour) + rows[0].replace(mark, "", 1)
    problem = error_line(retell(event.error, event.said), width) if event.error else ""
    return "\n" + problem + "".join(f"{row}\n" for row in rows)


def greeting(summary: Summary, sandbox: str, width: int, version: str = "") -> str:
    facts = [summary.model, summary.mode, *([t("sandbox: {sandbox}", sandbox=sandbox)] if sandbox else [])]
    name = f"coder {version}".rstrip()
    told = [f"{name} · {printable(' · '.join(facts))}", printable(summary.cwd)]
    told.append(t("session {session} · /help lists all commands", session=summary.id))
    rows = [row for line in told for row in wrapped(line, width, DIM)]
    rows[0] = paint(name, BOLD) + rows[0].replace(name, "", 1)
    return "".join(f"{row}\n" for row in rows)


def _lines(rows: list[str], first: str) -> str:
    starts = [first, *["  "] * (len(rows) - 1)]
    return "".join(f"{start}{row}\n" if row else "\n" for start, row in zip(starts, rows, strict=True))


def _steps(steps: int) -> list[str]:
    return [t("{steps} steps", steps=steps)] if steps > 1 else []


def _tokens(usage: Usage) -> list[str]:
    if not usage.input_tokens and not usage.output_tokens:
        return []
    return [t("{sent} tokens in, {got} out", sent=f"{usage.input_tokens:,}", got=f"{usage.output_tokens:,}")]


def duration_text(ms: int) -> str:
    """Format a duration."""
    if ms < 1000:
        return f"{ms}ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f}s"
    minutes, seconds = divmod(ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {seconds:02}s"
