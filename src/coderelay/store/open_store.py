"""Opens the store: in the person's own SQLite file, or on a PostgreSQL server that a team shares."""

from collections.abc import Callable

from coderelay.store.owner_liveness_by_file_lock import FileOwners
from coderelay.store.owner_liveness_interface import Owners
from coderelay.store.sqlite.store import SqliteStore
from coderelay.store.store import Projection, Store


def open_store(
    path: str, url: str | None, projection: Projection, *, open_seconds: float, tell: Callable[[str], None]
) -> Store:
    """Open the database at `url` if there is one, and otherwise the file at `path`. Raises StoreFailed, and
    StoreLocked if another program has locked the file for longer than `open_seconds`. Later, `tell` is called with a
    message about who holds a lock that the store waits for."""
    if url is None:
        return SqliteStore(path, projection, open_seconds=open_seconds, tell=tell)
    from coderelay.store.postgres.store import PostgresStore  # its driver is an optional dependency

    return PostgresStore(url, projection)


def open_owners(folder: str, url: str | None) -> Owners:
    """Return the registry that tells which processes that use the log are alive. Raises StoreFailed if a driver is
    missing."""
    if url is None:
        return FileOwners(folder)
    from coderelay.store.postgres.owner_liveness import PostgresOwners  # its driver is an optional dependency

    return PostgresOwners(url)
