"""The PostgreSQL schema as a list of migration steps. Steps are only ever added; none is edited or removed.

`schema_version` holds MAJOR * 1000 + the number of steps applied. A program accepts any number of steps of its own
major version, so that an old and a new program can share a log; a newer major version is refused. A function that
must change gets a new name, since an old program may still call it.
"""

from coderelay.protocol.errors import StoreFailed, StoreNewer
from coderelay.protocol.translatable import say
from coderelay.store.postgres.connection import UNCHANGED, Connection, rows

MAJOR = 1
_LOCK = 0x636F646572656C61  # "coderela": the lock that lets one process at a time migrate

STEPS = (
    # Ids are compared byte by byte (collation "C"): that is faster, and indexes do not depend on the server's locale.
    # `append_id` is a random number for each append: when a connection broke, it tells whether that append arrived.
    # Folders are looked up by hash, since a path may be longer than an index entry can be.
    """
    CREATE TABLE schema_version (program TEXT PRIMARY KEY, version INTEGER NOT NULL);
    CREATE TABLE event (
        session_id TEXT COLLATE "C" NOT NULL,
        seq BIGINT NOT NULL,
        epoch BIGINT NOT NULL,
        kind TEXT NOT NULL,
        at BIGINT NOT NULL,
        body TEXT NOT NULL,
        append_id BIGINT NOT NULL,
        PRIMARY KEY (session_id, seq)
    );
    CREATE TABLE sessions (
        id TEXT COLLATE "C" PRIMARY KEY,
        title TEXT NOT NULL,
        claude_session_id TEXT,
        status TEXT NOT NULL GENERATED ALWAYS AS (
            CASE phase
                WHEN 'running' THEN 'running' WHEN 'waiting' THEN 'running'
                WHEN 'done' THEN 'completed' WHEN 'failed' THEN 'error'
                ELSE 'idle'
            END
        ) STORED,
        cwd TEXT NOT NULL,
        allowed_tools TEXT NOT NULL,
        last_prompt TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        phase TEXT NOT NULL,
        summary TEXT NOT NULL
    );
    CREATE INDEX sessions_by_change ON sessions (updated_at);
    CREATE INDEX sessions_by_folder ON sessions (hashtextextended(cwd, 0), updated_at);
    CREATE TABLE messages (
        id TEXT COLLATE "C" NOT NULL,
        session_id TEXT COLLATE "C" NOT NULL,
        data TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        PRIMARY KEY (session_id, id)
    );
    CREATE INDEX messages_by_session ON messages (session_id, created_at, number);
    CREATE TABLE owner (
        number INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id TEXT COLLATE "C" NOT NULL UNIQUE,
        counter BIGINT NOT NULL DEFAULT 0,
        server_start TIMESTAMPTZ NOT NULL,
        beat_at TIMESTAMPTZ NOT NULL DEFAULT now()
    );

    CREATE FUNCTION write_rows(
        p_session TEXT, p_dropped BOOLEAN,
        p_title TEXT, p_claude_session_id TEXT, p_cwd TEXT, p_allowed_tools TEXT, p_last_prompt TEXT,
        p_created_at BIGINT, p_updated_at BIGINT, p_phase TEXT, p_summary TEXT,
        p_message_ids TEXT[], p_message_data TEXT[], p_message_ats BIGINT[]
    ) RETURNS VOID LANGUAGE plpgsql AS $$
    BEGIN
        IF p_dropped THEN
            DELETE FROM sessions WHERE id = p_session;
            DELETE FROM messages WHERE session_id = p_session;
        END IF;
        IF p_summary IS NULL THEN
            RETURN;
        END IF;
        INSERT INTO sessions (id, title, claude_session_id, cwd, allowed_tools, last_prompt, created_at,
                updated_at, phase, summary)
            VALUES (p_session, p_title, p_claude_session_id, p_cwd, p_allowed_tools, p_last_prompt, p_created_at,
                p_updated_at, p_phase, p_summary)
            ON CONFLICT (id) DO UPDATE SET title = excluded.title,
                claude_session_id = excluded.claude_session_id, cwd = excluded.cwd,
                allowed_tools = excluded.allowed_tools, last_prompt = excluded.last_prompt,
                created_at = excluded.created_at, updated_at = excluded.updated_at, phase = excluded.phase,
                summary = excluded.summary;
        IF cardinality(p_message_ids) > 0 THEN
            INSERT INTO messages (id, session_id, data, created_at)
                SELECT new.id, p_session, new.data, new.at
                FROM unnest(p_message_ids, p_message_data, p_message_ats) WITH ORDINALITY AS new (id, data, at, place)
                ORDER BY new.place
                ON CONFLICT DO NOTHING;
        END IF;
    END $$;

    CREATE FUNCTION append_events(
        p_session TEXT, p_seq BIGINT, p_epoch BIGINT, p_at BIGINT,
        p_append_id BIGINT, p_epochs BIGINT[], p_kinds TEXT[], p_bodies TEXT[], p_event_at BIGINT,
        p_erased_before BIGINT,
        p_dropped BOOLEAN,
        p_title TEXT, p_claude_session_id TEXT, p_cwd TEXT, p_allowed_tools TEXT, p_last_prompt TEXT,
        p_created_at BIGINT, p_updated_at BIGINT, p_phase TEXT, p_summary TEXT,
        p_message_ids TEXT[], p_message_data TEXT[], p_message_ats BIGINT[],
        OUT head_seq BIGINT, OUT head_epoch BIGINT, OUT head_at BIGINT
    ) LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended(p_session, 0));
        SELECT seq, epoch, at INTO head_seq, head_epoch, head_at
            FROM event WHERE session_id = p_session ORDER BY seq DESC LIMIT 1;
        IF NOT FOUND THEN
            head_seq := 0; head_epoch := 0; head_at := 0;
        END IF;
        IF head_seq != p_seq OR head_epoch != p_epoch OR head_at != p_at THEN
            RETURN;
        END IF;
        INSERT INTO event (session_id, seq, epoch, kind, at, body, append_id)
            SELECT p_session, p_seq + new.place, new.epoch, new.kind, p_event_at, new.body, p_append_id
            FROM unnest(p_epochs, p_kinds, p_bodies) WITH ORDINALITY AS new (epoch, kind, body, place);
        IF p_erased_before > 0 THEN
            DELETE FROM event WHERE session_id = p_session AND seq < p_erased_before;
        END IF;
        PERFORM write_rows(p_session, p_dropped, p_title, p_claude_session_id, p_cwd, p_allowed_tools, p_last_prompt,
            p_created_at, p_updated_at, p_phase, p_summary, p_message_ids, p_message_data, p_message_ats);
    END $$;
    """,
    # Events are numbered in the order in which they are appended, by any process. Existing events get no number,
    # because that would rewrite the whole table.
    """
    CREATE SEQUENCE event_number;
    GRANT USAGE ON SEQUENCE event_number TO PUBLIC;
    ALTER TABLE event ADD COLUMN number BIGINT;
    ALTER TABLE event ALTER COLUMN number SET DEFAULT nextval('event_number');
    ALTER SEQUENCE event_number OWNED BY event.number;
    """,
    # This index finds the few sessions that wait for a person among thousands that do not.
    """
    CREATE INDEX sessions_waiting ON sessions (updated_at) WHERE phase = 'waiting';
    """,
    # A session's row holds the number of its last event, so that lists are read in order from an index. The function
    # keeps its name and arguments: programs that do not know this column call it, too.
    """
    ALTER TABLE sessions ADD COLUMN changed BIGINT;
    UPDATE sessions SET changed = (SELECT number FROM event WHERE session_id = id ORDER BY seq DESC LIMIT 1);
    DROP INDEX sessions_by_change;
    DROP INDEX sessions_by_folder;
    DROP INDEX sessions_waiting;
    CREATE INDEX sessions_by_change ON sessions (changed DESC NULLS LAST, updated_at DESC);
    CREATE INDEX sessions_by_folder
        ON sessions (hashtextextended(cwd, 0), changed DESC NULLS LAST, updated_at DESC);
    CREATE INDEX sessions_waiting ON sessions (changed DESC NULLS LAST, updated_at DESC) WHERE phase = 'waiting';
    CREATE OR REPLACE FUNCTION write_rows(
        p_session TEXT, p_dropped BOOLEAN,
        p_title TEXT, p_claude_session_id TEXT, p_cwd TEXT, p_allowed_tools TEXT, p_last_prompt TEXT,
        p_created_at BIGINT, p_updated_at BIGINT, p_phase TEXT, p_summary TEXT,
        p_message_ids TEXT[], p_message_data TEXT[], p_message_ats BIGINT[]
    ) RETURNS VOID LANGUAGE plpgsql AS $$
    BEGIN
        IF p_dropped THEN
            DELETE FROM sessions WHERE id = p_session;
            DELETE FROM messages WHERE session_id = p_session;
        END IF;
        IF p_summary IS NULL THEN
            RETURN;
        END IF;
        INSERT INTO sessions (id, title, claude_session_id, cwd, allowed_tools, last_prompt, created_at,
                updated_at, phase, summary, changed)
            VALUES (p_session, p_title, p_claude_session_id, p_cwd, p_allowed_tools, p_last_prompt, p_created_at,
                p_updated_at, p_phase, p_summary,
                (SELECT number FROM event WHERE session_id = p_session ORDER BY seq DESC LIMIT 1))
            ON CONFLICT (id) DO UPDATE SET title = excluded.title,
                claude_session_id = excluded.claude_session_id, cwd = excluded.cwd,
                allowed_tools = excluded.allowed_tools, last_prompt = excluded.last_prompt,
                created_at = excluded.created_at, updated_at = excluded.updated_at, phase = excluded.phase,
                summary = excluded.summary, changed = excluded.changed;
        IF cardinality(p_message_ids) > 0 THEN
            INSERT INTO messages (id, session_id, data, created_at)
                SELECT new.id, p_session, new.data, new.at
                FROM unnest(p_message_ids, p_message_data, p_message_ats) WITH ORDINALITY AS new (id, data, at, place)
                ORDER BY new.place
                ON CONFLICT DO NOTHING;
        END IF;
    END $$;
    """,
    # Several appends share one statement and one commit. An append whose session another transaction is writing to,
    # or whose log ends elsewhere, writes nothing and is reported as false; the others are written.
    """
    CREATE FUNCTION append_group(
        p_sessions TEXT[], p_seqs BIGINT[], p_epochs BIGINT[], p_ats BIGINT[], p_append_ids BIGINT[],
        p_event_appends BIGINT[], p_event_seqs BIGINT[], p_event_epochs BIGINT[], p_event_kinds TEXT[],
        p_event_bodies TEXT[], p_event_ats BIGINT[],
        p_titles TEXT[], p_claude_session_ids TEXT[], p_cwds TEXT[], p_allowed_tools TEXT[], p_last_prompts TEXT[],
        p_created_ats BIGINT[], p_updated_ats BIGINT[], p_phases TEXT[], p_summaries TEXT[],
        p_message_appends BIGINT[], p_message_ids TEXT[], p_message_data TEXT[], p_message_ats BIGINT[]
    ) RETURNS BOOLEAN[] LANGUAGE plpgsql AS $$
    DECLARE
        fits BOOLEAN[];
    BEGIN
        SELECT array_agg(pg_try_advisory_xact_lock(hashtextextended(new.session, 0)) ORDER BY new.place) INTO fits
            FROM unnest(p_sessions) WITH ORDINALITY AS new (session, place);
        SELECT array_agg(
                fits[new.place] AND coalesce(head.seq, 0) = new.seq AND coalesce(head.epoch, 0) = new.epoch
                AND coalesce(head.at, 0) = new.at ORDER BY new.place
            ) INTO fits
            FROM unnest(p_sessions, p_seqs, p_epochs, p_ats) WITH ORDINALITY AS new (session, seq, epoch, at, place)
            LEFT JOIN LATERAL (
                SELECT event.seq, event.epoch, event.at FROM event WHERE session_id = new.session
                ORDER BY event.seq DESC LIMIT 1
            ) AS head ON true;
        WITH written AS (
            INSERT INTO event (session_id, seq, epoch, kind, at, body, append_id)
                SELECT p_sessions[new.append], new.seq, new.epoch, new.kind, new.at, new.body,
                    p_append_ids[new.append]
                FROM unnest(p_event_appends, p_event_seqs, p_event_epochs, p_event_kinds, p_event_ats, p_event_bodies)
                    AS new (append, seq, epoch, kind, at, body)
                WHERE fits[new.append]
                RETURNING session_id, number
        ), added AS (
            INSERT INTO messages (id, session_id, data, created_at)
                SELECT new.id, p_sessions[new.append], new.data, new.at
                FROM unnest(p_message_appends, p_message_ids, p_message_data, p_message_ats)
                    WITH ORDINALITY AS new (append, id, data, at, place)
                WHERE fits[new.append]
                ORDER BY new.place
                ON CONFLICT DO NOTHING
        )
        INSERT INTO sessions (id, title, claude_session_id, cwd, allowed_tools, last_prompt, created_at, updated_at,
                phase, summary, changed)
            SELECT new.id, new.title, new.claude_session_id, new.cwd, new.allowed_tools, new.last_prompt,
                new.created_at, new.updated_at, new.phase, new.summary, last.number
            FROM unnest(p_sessions, p_titles, p_claude_session_ids, p_cwds, p_allowed_tools, p_last_prompts,
                    p_created_ats, p_updated_ats, p_phases, p_summaries)
                AS new (id, title, claude_session_id, cwd, allowed_tools, last_prompt, created_at, updated_at, phase,
                    summary)
            JOIN (SELECT session_id, max(number) AS number FROM written GROUP BY session_id) AS last
                ON last.session_id = new.id
            ON CONFLICT (id) DO UPDATE SET title = excluded.title,
                claude_session_id = excluded.claude_session_id, cwd = excluded.cwd,
                allowed_tools = excluded.allowed_tools, last_prompt = excluded.last_prompt,
                created_at = excluded.created_at, updated_at = excluded.updated_at, phase = excluded.phase,
                summary = excluded.summary, changed = excluded.changed;
        RETURN fits;
    END $$;
    """,
    # The row of a session that has one is updated in place, with the number that the insertion returns: an append by
    # itself costs the server less. The function keeps its name and arguments, as older programs call it, too.
    """
    CREATE OR REPLACE FUNCTION append_events(
        p_session TEXT, p_seq BIGINT, p_epoch BIGINT, p_at BIGINT,
        p_append_id BIGINT, p_epochs BIGINT[], p_kinds TEXT[], p_bodies TEXT[], p_event_at BIGINT,
        p_erased_before BIGINT,
        p_dropped BOOLEAN,
        p_title TEXT, p_claude_session_id TEXT, p_cwd TEXT, p_allowed_tools TEXT, p_last_prompt TEXT,
        p_created_at BIGINT, p_updated_at BIGINT, p_phase TEXT, p_summary TEXT,
        p_message_ids TEXT[], p_message_data TEXT[], p_message_ats BIGINT[],
        OUT head_seq BIGINT, OUT head_epoch BIGINT, OUT head_at BIGINT
    ) LANGUAGE plpgsql AS $$
    DECLARE
        last BIGINT;
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended(p_session, 0));
        SELECT seq, epoch, at INTO head_seq, head_epoch, head_at
            FROM event WHERE session_id = p_session ORDER BY seq DESC LIMIT 1;
        IF NOT FOUND THEN
            head_seq := 0; head_epoch := 0; head_at := 0;
        END IF;
        IF head_seq != p_seq OR head_epoch != p_epoch OR head_at != p_at THEN
            RETURN;
        END IF;
        IF cardinality(p_kinds) = 1 THEN
            INSERT INTO event (session_id, seq, epoch, kind, at, body, append_id)
                VALUES (p_session, p_seq + 1, p_epochs[1], p_kinds[1], p_event_at, p_bodies[1], p_append_id)
                RETURNING number INTO last;
        ELSE
            WITH written AS (
                INSERT INTO event (session_id, seq, epoch, kind, at, body, append_id)
                    SELECT p_session, p_seq + new.place, new.epoch, new.kind, p_event_at, new.body, p_append_id
                    FROM unnest(p_epochs, p_kinds, p_bodies) WITH ORDINALITY AS new (epoch, kind, body, place)
                    RETURNING number
            ) SELECT max(number) INTO last FROM written;
        END IF;
        IF p_erased_before > 0 THEN
            DELETE FROM event WHERE session_id = p_session AND seq < p_erased_before;
        END IF;
        IF NOT p_dropped AND p_summary IS NOT NULL THEN
            UPDATE sessions SET title = p_title, claude_session_id = p_claude_session_id, cwd = p_cwd,
                    allowed_tools = p_allowed_tools, last_prompt = p_last_prompt, created_at = p_created_at,
                    updated_at = p_updated_at, phase = p_phase, summary = p_summary, changed = last
                WHERE id = p_session;
            IF FOUND THEN
                IF cardinality(p_message_ids) > 0 THEN
                    INSERT INTO messages (id, session_id, data, created_at)
                        SELECT new.id, p_session, new.data, new.at
                        FROM unnest(p_message_ids, p_message_data, p_message_ats)
                            WITH ORDINALITY AS new (id, data, at, place)
                        ORDER BY new.place
                        ON CONFLICT DO NOTHING;
                END IF;
                RETURN;
            END IF;
        END IF;
        PERFORM write_rows(p_session, p_dropped, p_title, p_claude_session_id, p_cwd, p_allowed_tools, p_last_prompt,
            p_created_at, p_updated_at, p_phase, p_summary, p_message_ids, p_message_data, p_message_ats);
    END $$;
    """,
    # What surfaces keep for themselves, in no session's log (0041).
    """
    CREATE TABLE notebook (
        book TEXT COLLATE "C" NOT NULL,
        key TEXT COLLATE "C" NOT NULL,
        value BYTEA NOT NULL,
        version BIGINT NOT NULL,
        at BIGINT NOT NULL,
        PRIMARY KEY (book, key)
    );
    """,
    # A session keeps its number as long as no other one is appended to, which is when the numbers of its events are
    # consecutive, and no index holds what else changes with each append. So an append that follows one to the same
    # session writes to no index of sessions. Messages are found by their primary key and
    # sorted when they are read. (SQLite has done so since its fifth step, 0035.)
    """
    DROP INDEX sessions_by_change;
    DROP INDEX sessions_by_folder;
    DROP INDEX sessions_waiting;
    DROP INDEX messages_by_session;
    CREATE INDEX sessions_by_change ON sessions (changed DESC NULLS LAST);
    CREATE INDEX sessions_by_folder ON sessions (hashtextextended(cwd, 0), changed DESC NULLS LAST);
    CREATE INDEX sessions_waiting ON sessions (changed DESC NULLS LAST) WHERE phase = 'waiting';
    CREATE OR REPLACE FUNCTION append_events(
        p_session TEXT, p_seq BIGINT, p_epoch BIGINT, p_at BIGINT,
        p_append_id BIGINT, p_epochs BIGINT[], p_kinds TEXT[], p_bodies TEXT[], p_event_at BIGINT,
        p_erased_before BIGINT,
        p_dropped BOOLEAN,
        p_title TEXT, p_claude_session_id TEXT, p_cwd TEXT, p_allowed_tools TEXT, p_last_prompt TEXT,
        p_created_at BIGINT, p_updated_at BIGINT, p_phase TEXT, p_summary TEXT,
        p_message_ids TEXT[], p_message_data TEXT[], p_message_ats BIGINT[],
        OUT head_seq BIGINT, OUT head_epoch BIGINT, OUT head_at BIGINT
    ) LANGUAGE plpgsql AS $$
    DECLARE
        before BIGINT;
        last BIGINT;
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended(p_session, 0));
        SELECT seq, epoch, at, number INTO head_seq, head_epoch, head_at, before
            FROM event WHERE session_id = p_session ORDER BY seq DESC LIMIT 1;
        IF NOT FOUND THEN
            head_seq := 0; head_epoch := 0; head_at := 0;
        END IF;
        IF head_seq != p_seq OR head_epoch != p_epoch OR head_at != p_at THEN
            RETURN;
        END IF;
        IF cardinality(p_kinds) = 1 THEN
            INSERT INTO event (session_id, seq, epoch, kind, at, body, append_id)
                VALUES (p_session, p_seq + 1, p_epochs[1], p_kinds[1], p_event_at, p_bodies[1], p_append_id)
                RETURNING number INTO last;
        ELSE
            WITH written AS (
                INSERT INTO event (session_id, seq, epoch, kind, at, body, append_id)
                    SELECT p_session, p_seq + new.place, new.epoch, new.kind, p_event_at, new.body, p_append_id
                    FROM unnest(p_epochs, p_kinds, p_bodies) WITH ORDINALITY AS new (epoch, kind, body, place)
                    RETURNING number
            ) SELECT max(number) INTO last FROM written;
        END IF;
        IF p_erased_before > 0 THEN
            DELETE FROM event WHERE session_id = p_session AND seq < p_erased_before;
        END IF;
        IF NOT p_dropped AND p_summary IS NOT NULL THEN
            UPDATE sessions SET title = p_title, claude_session_id = p_claude_session_id, cwd = p_cwd,
                    allowed_tools = p_allowed_tools, last_prompt = p_last_prompt, created_at = p_created_at,
                    updated_at = p_updated_at, phase = p_phase, summary = p_summary,
                    changed = CASE WHEN last = before + cardinality(p_kinds) THEN changed ELSE last END
                WHERE id = p_session;
            IF FOUND THEN
                IF cardinality(p_message_ids) = 1 THEN
                    INSERT INTO messages (id, session_id, data, created_at)
                        VALUES (p_message_ids[1], p_session, p_message_data[1], p_message_ats[1])
                        ON CONFLICT DO NOTHING;
                ELSIF cardinality(p_message_ids) > 0 THEN
                    INSERT INTO messages (id, session_id, data, created_at)
                        SELECT new.id, p_session, new.data, new.at
                        FROM unnest(p_message_ids, p_message_data, p_message_ats)
                            WITH ORDINALITY AS new (id, data, at, place)
                        ORDER BY new.place
                        ON CONFLICT DO NOTHING;
                END IF;
                RETURN;
            END IF;
        END IF;
        PERFORM write_rows(p_session, p_dropped, p_title, p_claude_session_id, p_cwd, p_allowed_tools, p_last_prompt,
            p_created_at, p_updated_at, p_phase, p_summary, p_message_ids, p_message_data, p_message_ats);
    END $$;
    """,
)

# Tables of extensions (statistics, maps) do not count as tables of another program.
_LOOK = """
SELECT current_schema() IS NOT NULL,
    (SELECT count(*) = 2 FROM pg_attribute
        WHERE attrelid = to_regclass('schema_version') AND attname IN ('program', 'version')),
    EXISTS (SELECT FROM pg_class c
        WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema()))
        AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND NOT EXISTS (SELECT FROM pg_depend d
            WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'))
"""
_VERSION = "SELECT coalesce(max(version), 0) FROM schema_version WHERE program = 'coderelay'"
_SET_VERSION = """
INSERT INTO schema_version (program, version) VALUES ('coderelay', %s)
ON CONFLICT (program) DO UPDATE SET version = excluded.version
"""


async def check_version(connection: Connection, name: str) -> int:
    """Return how many steps this database has had. Raises for a database that this program must not touch. Only
    reads."""
    has_schema, has_version, has_tables = (await rows(connection, _LOOK))[0]
    if not has_schema:
        raise StoreFailed(
            say("the database {name} has no schema to write to", name=name),
            say("Set its search_path. {rest}", rest=UNCHANGED),
        )
    version = 0
    if has_version:
        ((version,),) = await rows(connection, _VERSION)
    if has_tables and not version:
        raise StoreFailed(
            say("the database {name} holds tables of another program", name=name),
            say("Make a database or a schema of its own and name it in CODER_DATABASE_URL. {rest}", rest=UNCHANGED),
        )
    if version // 1000 > MAJOR:
        raise StoreNewer(
            say("{path} was written by a newer version of coderelay", path=say("the database {name}", name=name)),
            say("Upgrade coderelay, or name another database in CODER_DATABASE_URL. {rest}", rest=UNCHANGED),
        )
    return version % 1000


async def migrate(connection: Connection, name: str) -> None:
    """Bring the schema up to date. Safe when several processes start at once."""
    if await check_version(connection, name) >= len(STEPS):
        return
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        done = await check_version(connection, name)
        for step in STEPS[done:]:
            await connection.execute(step.encode())
        if done < len(STEPS):
            await connection.execute(_SET_VERSION, [MAJOR * 1000 + len(STEPS)])
