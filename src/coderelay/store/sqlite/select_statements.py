"""The statements with which the store reads its tables. Those that write stand beside their transactions."""

# The body is read as bytes: the store decodes it, and can name the event if it is not valid text.
EVENTS = (
    "SELECT seq, epoch, at, kind, CAST(body AS BLOB) FROM event WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?"
)
NAMED = "SELECT id, summary FROM sessions WHERE id >= ? AND id < ? ORDER BY id"
SUMMARY = "SELECT id, summary FROM sessions WHERE id = ?"
# Orders by when events were appended: clocks may be wrong.
_BY_CHANGE = "changed DESC"
SESSIONS = f"SELECT id, summary FROM sessions ORDER BY {_BY_CHANGE} LIMIT ?"
SESSIONS_IN = f"SELECT id, summary FROM sessions WHERE cwd = ? ORDER BY {_BY_CHANGE} LIMIT ?"
WAITING = f"SELECT id, summary FROM sessions WHERE phase = 'waiting' ORDER BY {_BY_CHANGE}"
LOGS = "SELECT session_id FROM event GROUP BY session_id ORDER BY max(rowid)"
LAST = "SELECT rowid, session_id, seq FROM event ORDER BY rowid DESC LIMIT 1"
FROM = "SELECT rowid, session_id, seq FROM event WHERE rowid >= ? ORDER BY rowid"
# Jumps from one session to the next in the index, instead of reading every event.
ALL_HEADS = """
WITH RECURSIVE log (id) AS (
    SELECT min(session_id) FROM event
    UNION ALL
    SELECT (SELECT min(session_id) FROM event WHERE session_id > log.id) FROM log WHERE log.id IS NOT NULL
)
SELECT id, (SELECT max(seq) FROM event WHERE session_id = log.id) FROM log WHERE id IS NOT NULL
"""
# One statement, so that the head belongs to the messages. Without messages it returns one row with the head alone.
MESSAGES = """
SELECT head.seq, messages.id, messages.data
FROM (SELECT max(seq) AS seq FROM event WHERE session_id = ?) AS head
LEFT JOIN messages ON messages.session_id = ?
ORDER BY messages.created_at, messages.rowid
"""
# Jumps from one folder to the next in the index, instead of reading every session.
RECENT_FOLDERS = """
WITH RECURSIVE folder (cwd) AS (
    SELECT min(cwd) FROM sessions
    UNION ALL
    SELECT (SELECT min(cwd) FROM sessions WHERE cwd > folder.cwd) FROM folder WHERE folder.cwd IS NOT NULL
)
SELECT cwd FROM folder WHERE cwd IS NOT NULL
ORDER BY (SELECT max(changed) FROM sessions WHERE cwd = folder.cwd) DESC LIMIT ?
"""
HEAD = "SELECT seq, epoch, at FROM event WHERE session_id = ? ORDER BY seq DESC LIMIT 1"
