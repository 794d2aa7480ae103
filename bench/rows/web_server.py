"""The web server at rest: what its memory and CPU are with many sessions, one client connected."""

import asyncio
import json
import os
import subprocess
import time
from pathlib import Path

import websockets
from websockets.typing import Subprotocol

from bench.lab import CODER, Lab, lab
from bench.table import Row, at_most
from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.events import AnyEvent
from coderelay.protocol.ids import SessionId, new_id
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import created, whole_turn

TOKEN = "a-token-for-the-bench-that-nobody-guesses"
SECONDS = 5.0


def measure() -> list[Row]:
    few, many = (_server(sessions) for sessions in (100, 1000))
    return [
        Row("web server, 100 idle sessions, all opened, memory", "MB", few[0], None, at_most(120, "MB")),
        Row("- 1,000 sessions, all opened, memory", "MB", many[0], None, at_most(120, "MB")),
        Row("- 1,000 sessions at rest, CPU", "cores", many[1], None, at_most(0.02, "cores")),
    ]


def _server(sessions: int) -> tuple[float, float]:
    with lab() as here:
        ids = asyncio.run(_fill(here.home / "sessions.db", sessions))
        env = {**os.environ, "CODER_HOME": str(here.home), "CODER_TOKEN": TOKEN}
        started = subprocess.Popen(
            [*CODER, "web", "--no-open", "--port", "0"], cwd=here.work, env=env, stdout=subprocess.PIPE, text=True
        )
        try:
            assert started.stdout is not None
            port = int(started.stdout.readline().split(":")[2].split("/")[0])
            return asyncio.run(_look(here, port, started.pid, ids))
        finally:
            started.terminate()
            started.wait()


async def _look(here: Lab, port: int, pid: int, ids: list[SessionId]) -> tuple[float, float]:
    """Open every session once, as a page does that goes through them, then leave the server alone."""
    offered = [Subprotocol("coder.v1"), Subprotocol(f"bearer.{TOKEN}")]
    async with websockets.connect(f"ws://127.0.0.1:{port}/events", max_size=None, subprotocols=offered) as socket:
        for each in ids:
            await socket.send(json.dumps({"type": "session.history", "payload": {"sessionId": each}}))
            while json.loads(await socket.recv())["type"] != "session.history":
                pass
        await asyncio.sleep(1)
        before, began = _cpu(pid), time.monotonic()
        await asyncio.sleep(SECONDS)
        return _memory(pid), (_cpu(pid) - before) / (time.monotonic() - began)


def _memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _fill(path: Path, sessions: int) -> list[SessionId]:
    store = SqliteStore(str(path), SessionRows())
    ids = [SessionId(new_id()) for _ in range(sessions)]
    for each in ids:
        turns = [whole_turn(2 * turn + 1, f"build part {turn}") for turn in range(3)]
        events: list[AnyEvent] = [created(), *(event for turn in turns for page in turn for event in page)]
        await store.append(each, 0, events)
    await store.close()
    return ids
