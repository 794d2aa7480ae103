"""`python -m bench [--markdown] [FAMILY …]`: the table, or some of its rows."""

import argparse
import os
import platform
import resource
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import table
from bench.peers import contest
from bench.peers import table as beside
from bench.rows import (
    answers,
    appends,
    crowd,
    drawing,
    files,
    follow,
    judging,
    long,
    many_sessions,
    memory,
    opening,
    postgres,
    repl,
    resume,
    sandbox,
    start,
    steps,
    tokens,
    undo,
    version,
)

FAMILIES: dict[str, Callable[[], Sequence[table.Line]]] = {
    "version": version.measure,
    "start": start.measure,
    "steps": steps.measure,
    "long": long.measure,
    "memory": memory.measure,
    "tokens": tokens.measure,
    "drawing": drawing.measure,
    "repl": repl.measure,
    "opening": opening.measure,
    "appends": appends.measure,
    "resume": resume.measure,
    "answers": answers.measure,
    "follow": follow.measure,
    "crowd": crowd.measure,
    "many": many_sessions.measure,
    "postgres": postgres.measure,
    "files": files.measure,
    "undo": undo.measure,
    "judging": judging.measure,
    "sandbox": sandbox.measure,
}
PEERS = "peers"  # not with the others: it takes longer, and has columns of its own
QUIET = 0.5  # cores


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Each row beside a floor of the same run.")
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"some of: {', '.join(FAMILIES)}; or {PEERS}")
    parser.add_argument("--markdown", action="store_true", help="the table as it stands in docs/benchmarks.md")
    options = parser.parse_args()
    if unknown := set(options.families) - {*FAMILIES, PEERS}:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(FAMILIES)}, {PEERS}")
    began, busy = time.monotonic(), _foreign_seconds()
    rows: list[table.Line] = []
    held: contest.Contest | None = None
    for name in options.families or FAMILIES:
        sys.stderr.write(f"{name} …\n")
        if name == PEERS:
            held = contest.hold()
        else:
            rows += FAMILIES[name]()
    seconds = time.monotonic() - began
    foreign = max(_foreign_seconds() - busy, 0) / seconds
    if rows:
        print(table.markdown(rows) if options.markdown else table.text(rows))
    if held:
        print(beside.markdown(held) if options.markdown else beside.text(held))
    print(f"\n{_machine()}; {seconds:.0f} s, in which other programs used {foreign:.1f} cores")
    if foreign > QUIET:
        print("Too much for wall times and their ratios: trust CPU and memory only.")


def _machine() -> str:
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"


def _foreign_seconds() -> float:
    """What all cores did since the machine started, but for us and what we have awaited."""
    user, nice, system, _, _, *interrupts = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:8])
    busy = (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return busy - sum(each.ru_utime + each.ru_stime for each in own)


if __name__ == "__main__":
    main()
