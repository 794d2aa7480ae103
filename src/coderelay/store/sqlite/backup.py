"""Backup of the log: makes a consistent copy while other processes write to it."""

import os
import sqlite3
from contextlib import closing, suppress
from urllib.parse import quote

from coderelay.protocol.errors import BadInput, StoreDamaged, StoreFailed
from coderelay.protocol.translatable import say
from coderelay.store.sqlite.error_translation import failure
from coderelay.store.sqlite.migrations import check_version


def back_up(source: str, target: str) -> int:
    """Copy the database to `target`, which must not exist. Returns the number of events in the copy.

    The copy is one file. It gets its name only when it is complete, checked and on disk. Raises BadInput and
    StoreFailed.
    """
    if os.path.lexists(target):
        raise BadInput(
            say("{file} already exists", file=target), "Name a file that does not exist yet. Nothing was changed."
        )
    if not os.path.exists(source):
        raise BadInput(say("there is no log at {file}", file=source))
    partial = f"{target}.partial"
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise BadInput(say("cannot write {path}: {why}", path=partial, why=error.strerror)) from error
    try:
        events = _copy(source, partial)
        _sync(partial)
        os.link(partial, target)  # unlike a rename, it never replaces a file that somebody else has created
        _sync(os.path.dirname(os.path.abspath(target)))
    except sqlite3.Error as error:
        raise failure(error, source) from error
    except OSError as error:
        what = say("cannot write {path}: {why}", path=target, why=error.strerror)
        raise StoreFailed(what, "The log itself was not changed.") from error
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                os.unlink(partial + suffix)
    return events


def _copy(source: str, target: str) -> int:
    with (
        closing(sqlite3.connect(f"file:{quote(os.path.abspath(source))}?mode=ro", uri=True)) as log,
        closing(sqlite3.connect(target)) as copy,
    ):
        check_version(log, source)
        log.backup(copy)  # in one step, so the copy is a consistent snapshot
        copy.execute("PRAGMA journal_mode = DELETE")  # one file: no content may stay in a -wal file
        ((found,),) = copy.execute("PRAGMA quick_check(1)").fetchall()
        if found != "ok":
            raise StoreDamaged(say("{path} is damaged: {why}", path=source, why=found), "No copy was made.")
        ((events,),) = copy.execute("SELECT count(*) FROM event").fetchall()
        return events


def _sync(path: str) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
