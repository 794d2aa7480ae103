"""The SQLite schema as a list of migration steps. Steps are only ever added; none is edited or removed.

`user_version` holds MAJOR * 1000 + the number of steps applied. A program accepts any number of steps of its own
major version, so that an old and a new program can share a log; a newer major version is refused.
"""

import sqlite3
from collections.abc import Iterator

from coderelay.protocol.errors import StoreFailed, StoreNewer
from coderelay.protocol.translatable import say

MAJOR = 1
APPLICATION_ID = 0x636F6472  # "codr"

STEPS = (
    """
    CREATE TABLE event (
        session_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        kind TEXT NOT NULL,
        at INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (session_id, seq)
    );
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        title TEXT NOT NULL,
        claude_session_id TEXT,
        status TEXT NOT NULL GENERATED ALWAYS AS (
            CASE phase
                WHEN 'running' THEN 'running' WHEN 'waiting' THEN 'running'
                WHEN 'done' THEN 'completed' WHEN 'failed' THEN 'error'
                ELSE 'idle'
            END
        ) VIRTUAL,
        cwd TEXT NOT NULL,
        allowed_tools TEXT NOT NULL,
        last_prompt TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        phase TEXT NOT NULL,
        summary TEXT NOT NULL
    );
    CREATE INDEX sessions_by_change ON sessions (updated_at);
    CREATE INDEX sessions_by_folder ON sessions (cwd, updated_at);
    CREATE TABLE messages (
        id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL,
        data TEXT NOT NULL,
        created_at INTEGER NOT NULL
    );
    CREATE INDEX messages_by_session ON messages (session_id, created_at);
    """,
    # Clients and agents choose message ids: two sessions may use the same id, and each keeps its own message.
    """
    ALTER TABLE messages RENAME TO messages_before;
    DROP INDEX messages_by_session;
    CREATE TABLE messages (
        id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        data TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        PRIMARY KEY (session_id, id)
    );
    CREATE INDEX messages_by_session ON messages (session_id, created_at);
    INSERT INTO messages (id, session_id, data, created_at)
        SELECT id, session_id, data, created_at FROM messages_before ORDER BY rowid;
    DROP TABLE messages_before;
    """,
    # This index finds the few sessions that wait for a person among thousands that do not.
    """
    CREATE INDEX sessions_waiting ON sessions (updated_at) WHERE phase = 'waiting';
    """,
    # A session's row holds the row number of its last event, so that lists are read in order from an index. VACUUM
    # may lower the numbers of events; then the next number in this column is taken. The triggers do the same for
    # programs that do not know the column.
    """
    ALTER TABLE sessions ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
    UPDATE sessions SET changed = coalesce(
        (SELECT rowid FROM event WHERE session_id = sessions.id ORDER BY seq DESC LIMIT 1), 0
    );
    DROP INDEX sessions_by_change;
    DROP INDEX sessions_by_folder;
    DROP INDEX sessions_waiting;
    CREATE INDEX sessions_by_change ON sessions (changed);
    CREATE INDEX sessions_by_folder ON sessions (cwd, changed);
    CREATE INDEX sessions_waiting ON sessions (changed) WHERE phase = 'waiting';
    CREATE TRIGGER session_added AFTER INSERT ON sessions WHEN NEW.changed = 0 BEGIN
        UPDATE sessions SET changed = max(
            (SELECT max(changed) + 1 FROM sessions),
            coalesce((SELECT rowid FROM event WHERE session_id = NEW.id ORDER BY seq DESC LIMIT 1), 0)
        ) WHERE id = NEW.id;
    END;
    CREATE TRIGGER session_changed AFTER UPDATE ON sessions WHEN NEW.changed = OLD.changed BEGIN
        UPDATE sessions SET changed = max(
            (SELECT max(changed) + 1 FROM sessions),
            coalesce((SELECT rowid FROM event WHERE session_id = NEW.id ORDER BY seq DESC LIMIT 1), 0)
        ) WHERE id = NEW.id;
    END;
    """,
    # The session that changed last keeps its number while it goes on, so that an append writes to no index of
    # sessions. Messages are found by their primary key and sorted when they are read.
    """
    DROP TRIGGER session_changed;
    CREATE TRIGGER session_changed AFTER UPDATE ON sessions
    WHEN NEW.changed = OLD.changed AND NEW.changed < (SELECT max(changed) FROM sessions) BEGIN
        UPDATE sessions SET changed = max(
            (SELECT max(changed) + 1 FROM sessions),
            coalesce((SELECT rowid FROM event WHERE session_id = NEW.id ORDER BY seq DESC LIMIT 1), 0)
        ) WHERE id = NEW.id;
    END;
    DROP INDEX messages_by_session;
    """,
    # What surfaces keep for themselves, in no session's log (0041).
    """
    CREATE TABLE notebook (
        book TEXT NOT NULL,
        key TEXT NOT NULL,
        value BLOB NOT NULL,
        version INTEGER NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (book, key)
    ) WITHOUT ROWID;
    """,
)


def check_version(connection: sqlite3.Connection, path: str) -> int:
    """Return how many steps this database has had. Raises for a database that this program must not touch. Only
    reads."""
    if connection.in_transaction:
        return _check(connection, path)
    connection.execute("BEGIN")  # a consistent view: another process may be creating the schema now
    try:
        return _check(connection, path)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _check(connection: sqlite3.Connection, path: str) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION_ID and (version or application or tables):
        raise StoreFailed(
            say("{path} is a database of another program", path=path),
            "Point CODER_HOME at another folder. Nothing was changed.",
        )
    if version // 1000 > MAJOR:
        raise StoreNewer(
            say("{path} was written by a newer version of coderelay", path=path),
            "Upgrade coderelay, or point CODER_HOME at another folder. Nothing was changed.",
        )
    return version % 1000


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Bring the schema up to date. Safe when several processes start at once."""
    if check_version(connection, path) >= len(STEPS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = check_version(connection, path)
        for step in STEPS[done:]:
            for statement in _statements(step):
                connection.execute(statement)
        if done < len(STEPS):
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {MAJOR * 1000 + len(STEPS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite ends it by itself when the disk is full
            connection.execute("ROLLBACK")
        raise


def _statements(step: str) -> Iterator[str]:
    statement = ""
    for part in filter(str.strip, step.split(";")):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):  # the body of a trigger holds semicolons
            yield statement
            statement = ""
