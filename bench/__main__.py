"""`python -m bench [--markdown|--page] [FAMILY …]`: the table, or some of its rows."""

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import page, table
from bench.peers import contest
from bench.peers import table as beside
from bench.rows import (
    answers,
    appends,
    crowd,
    drawing,
    editor,
    fan_out,
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
    web_page,
    web_server,
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
    "web": lambda: [*fan_out.measure(), *web_server.measure(), *web_page.measure()],
    "editor": editor.measure,
    "postgres": postgres.measure,
    "files": files.measure,
    "undo": undo.measure,
    "judging": judging.measure,
    "sandbox": sandbox.measure,
}
PEERS = "peers"  # not with the others: it takes longer, and has columns of its own


def main() -> None:
    options = _options()
    began, busy = time.monotonic(), _foreign_seconds()
    rows: list[table.Line] = []
    held: contest.Contest | None = None
    for name in options.families or FAMILIES:
        sys.stderr.write(f"{name} …\n")
        start = time.monotonic()
        if name == PEERS:
            held = contest.hold()
        else:
            rows += FAMILIES[name]()
        sys.stderr.write(f"{name}: {time.monotonic() - start:.0f} s\n")
    seconds = time.monotonic() - began
    circumstances = page.Circumstances(seconds, max(_foreign_seconds() - busy, 0) / seconds)
    if options.page or options.markdown:
        parts: dict[page.Part, str] = {}
        if rows:
            parts["rows"] = page.rows_part(rows, circumstances)
        if held:
            parts["peers"] = page.peers_part(held, circumstances)
        for part, text in parts.items():
            print(f"{text}\n")
            if options.page:
                page.write(part, text)
        return
    if rows:
        print(table.text(rows))
    if held:
        print(beside.text(held))
    print(f"\n{circumstances}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Each row beside a floor of the same run.")
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"some of: {', '.join(FAMILIES)}; or {PEERS}")
    parser.add_argument("--markdown", action="store_true", help="print it as it stands in docs/benchmarks.md")
    parser.add_argument(
        "--page", action="store_true", help="write it into docs/benchmarks.md; all families, or peers"
    )
    options = parser.parse_args()
    if unknown := set(options.families) - {*FAMILIES, PEERS}:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(FAMILIES)}, {PEERS}")
    if options.page and set(options.families) & set(FAMILIES) not in (set(), set(FAMILIES)):
        parser.error("the page holds one run of all families: give none of them, or peers alone")
    return options


def _foreign_seconds() -> float:
    """What all cores did since the machine started, but for us and what we have awaited."""
    user, nice, system, _, _, *interrupts = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:8])
    busy = (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return busy - sum(each.ru_utime + each.ru_stime for each in own)


if __name__ == "__main__":
    main()
