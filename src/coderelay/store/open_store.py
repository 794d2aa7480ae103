"""Which database holds the log: a SQLite file of the person's own, or the PostgreSQL that a team shares."""

from collections.abc import Callable

from coderelay.store.owners import FileOwners, Owners
from coderelay.store.sqlite.store import SqliteStore
from coderelay.store.store import Projection, Store


def open_store(
    path: str, url: str | None, projection: Projection, *, open_seconds: float, tell: Callable[[str], None]
) -> Store:
    """The file at `path`, unless there is an `url`. Raises StoreFailed, and StoreLocked if another program has locked
    the file for longer than `open_seconds`. `tell` is told who makes it wait later."""
    if url is None:
        return SqliteStore(path, projection, open_seconds=open_seconds, tell=tell)
    from coderelay.store.postgres.store import PostgresStore  # its driver is an extra

    return PostgresStore(url, projection)


def open_owners(folder: str, url: str | None) -> Owners:
    """Who is alive among those that use the log. Raises StoreFailed if a driver is missing."""
    if url is None:
        return FileOwners(folder)
    from coderelay.store.postgres.owners import PostgresOwners  # its driver is an extra

    return PostgresOwners(url)
