import sqlite3
from pathlib import Path

import pytest

from coderelay.store.sqlite import store as sqlite_module
from coderelay.store.sqlite.open_file import open_file
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import created, prompt, whole_turn
from tests.store.sample_database import HEAD, A, B, use


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with the sessions A and B; nobody has it open."""
    path = tmp_path / "home" / "sessions.db"

    async def fill(store: SqliteStore) -> None:
        for session in (A, B):
            turn = [event for events in whole_turn() for event in events]
            await store.append(session, 0, [created(), *(prompt(f"{session} {n} " * 50) for n in range(40)), *turn])
        assert await store.heads([A, B]) == {A: HEAD, B: HEAD}

    use(path, fill)
    return path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """The connections a store opens: first the one that reads, then the one that writes."""
    connections: list[sqlite3.Connection] = []

    def open_and_show(path: str, lock_seconds: float) -> sqlite3.Connection:
        connections.append(open_file(path, lock_seconds))
        return connections[-1]

    monkeypatch.setattr(sqlite_module, "open_file", open_and_show)
    return connections
