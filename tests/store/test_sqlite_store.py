"""SQLite keeps the contract of a store."""

from pathlib import Path

import pytest

from coderelay.store.sqlite.store import SqliteStore
from coderelay.store.store import Projection, Store
from coderelay.testing.store_suite import CHECKS, Check, Clock, name, run


@pytest.mark.quick
@pytest.mark.parametrize("check", CHECKS, ids=name)
def test_sqlite_keeps_the_contract_of_a_store(check: Check, tmp_path: Path) -> None:
    async def open_store(projection: Projection, clock: Clock) -> Store:
        return SqliteStore(str(tmp_path / "sessions.db"), projection, clock=clock)

    run(check, open_store)
