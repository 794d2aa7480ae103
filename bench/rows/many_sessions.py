"""Many sessions: what a process that lives long pays for them, and how long lists of them take.

The lists are of 5,000 sessions, 500 of which wait for people; their floor is the same command on an empty log.
"""

import asyncio
import json
from pathlib import Path

from bench.compare import alternate
from bench.lab import CODER, Lab, Ran, lab
from bench.processes import MANY_SESSIONS
from bench.table import INFORMATIONAL, Row, at_most, at_most_times
from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.events import AnyEvent
from coderelay.protocol.ids import SessionId, new_id
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import created, whole_turn

SESSIONS, WAITING = 5000, 500
RUNS = 7


def measure() -> list[Row]:
    with lab() as here:
        quiet, busy, opened = (_run(here, kind) for kind in ("resting", "elsewhere", "opened"))
    with lab() as here:
        asyncio.run(_fill(here.home / "sessions.db"))
        asks, sessions = (_list(here, command) for command in ("asks", "sessions"))
    return [
        Row("1,000 resting sessions followed, CPU", "cores", quiet["cores"], None, at_most(0.02, "cores")),
        Row("- at 20 appends/s elsewhere, CPU", "cores", busy["cores"], None, at_most(0.05, "cores")),
        Row("1,000 unknown ids, records left", "", opened["unknown"], None, at_most(0, "")),
        Row("10,000 sessions opened in turn, records left", "", opened["records"], None, at_most(40, "")),
        Row("- memory, from the 1,000th to the last", "MB", opened["memory"], None, at_most(5, "MB")),
        Row("- tasks, likewise", "", opened["tasks"], None, INFORMATIONAL),
        Row("- descriptors, likewise", "", opened["descriptors"], None, INFORMATIONAL),
        *asks,
        *sessions,
    ]


def _run(here: Lab, kind: str) -> dict[str, float]:
    report = here.work / f"{kind}.json"
    here.wait(*here.start([*MANY_SESSIONS, kind, str(report)]))
    return json.loads(report.read_text())


def _list(here: Lab, command: str) -> list[Row]:
    empty = here.work.parent / "empty"

    def run(home: Path) -> Ran:
        return here.run(["/usr/bin/env", f"CODER_HOME={home}", *CODER, command])

    runs = alternate(RUNS, lambda: run(here.home), lambda: run(empty))
    ms, cpu = runs.median(lambda ran: ran.ms), runs.median(lambda ran: ran.cpu)
    what = f"coder {command}, 5,000 sessions, 500 wait (floor: an empty log)"
    return [Row(what, "ms", *ms, at_most_times(1.5), cpu)]


async def _fill(path: Path) -> None:
    store = SqliteStore(str(path), SessionRows())
    for first in range(0, SESSIONS, 100):
        await asyncio.gather(*(_session(store, first + number) for number in range(100)))
    await store.close()


async def _session(store: SqliteStore, number: int) -> None:
    turns = [whole_turn(2 * turn + 1, f"build part {turn} of {number}") for turn in range(3)]
    if number % (SESSIONS // WAITING) == 0:
        turns[-1] = turns[-1][:3]  # until a person is asked
    events: list[AnyEvent] = [created(), *(event for turn in turns for page in turn for event in page)]
    await store.append(SessionId(new_id()), 0, events)
