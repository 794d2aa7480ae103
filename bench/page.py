"""A run as docs/benchmarks.md shows it. The page has two parts between marks that a run can replace."""

import os
import platform
import sqlite3
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from bench import table
from bench.peers import table as peers_table
from bench.peers.contest import Contest

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
QUIET = 0.5  # cores

Part = Literal["rows", "peers"]


class Circumstances(Struct, frozen=True):
    """How long a run took, and how many cores other programs used meanwhile."""

    seconds: float
    foreign: float

    def __str__(self) -> str:
        machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
        told = f"{machine}; {self.seconds:.0f} s, in which other programs used {self.foreign:.1f} cores"
        return f"{told}. That is too much for wall times and their ratios." if self.foreign > QUIET else f"{told}."


def rows_part(rows: Sequence[table.Line], circumstances: Circumstances) -> str:
    missed = [f"- **{row.what}**: {row.told()}" for row in rows if isinstance(row, table.Row) and row.is_missed]
    verdict = "These budgets were missed in this run:\n" if missed else "Every budget was met in this run."
    return "\n".join([_measured(circumstances), "", table.markdown(rows), "", verdict, *missed])


def peers_part(held: Contest, circumstances: Circumstances) -> str:
    return "\n".join([_measured(circumstances), "", peers_table.markdown(held)])


def _measured(circumstances: Circumstances) -> str:
    return f"Measured at commit `{_commit()}` on {circumstances}"


def _commit() -> str:
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty=, changed", "--exclude=*"],
        cwd=PAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() or "unknown"


def write(part: Part, text: str, page: Path = PAGE) -> None:
    """Replace what stands between the marks of this part."""
    before, begin, rest = page.read_text().partition(_mark(part, "begin"))
    _, end, after = rest.partition(_mark(part, "end"))
    if not begin or not end:
        raise ValueError(f"{page} has no marks for {part}")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


def _mark(part: Part, side: Literal["begin", "end"]) -> str:
    return f"<!-- {part}: {side} -->"
