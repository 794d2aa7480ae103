"""One append to a log on PostgreSQL, which can be retried after the connection broke without writing twice."""

import secrets
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from coderelay.protocol.errors import Fenced, HeadMoved
from coderelay.protocol.events import AnyEvent, Recorded, SessionDeleted
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.store.event_row_encoding import LogHead, bodies, place
from coderelay.store.postgres.connection import Connection, rows
from coderelay.store.postgres.prepared_statement import PreparedStatement, Rows
from coderelay.store.postgres.value_encoding import Numbers, Texts, escape_nul
from coderelay.store.store import Projection

_HEAD = """
SELECT head.seq, head.epoch, head.at, sessions.summary
FROM (SELECT seq, epoch, at FROM event WHERE session_id = %s ORDER BY seq DESC LIMIT 1) AS head
LEFT JOIN sessions ON sessions.id = %s
"""
_T, _N, _TS, _NS = "text", "bigint", "text[]", "bigint[]"
ROW_TYPES = ("boolean", _T, _T, _T, _T, _T, _N, _N, _T, _T, _TS, _TS, _NS)
APPEND = PreparedStatement(
    "append_events",
    (_T, _N, _N, _N, _N, _NS, _TS, _TS, _N, _N, *ROW_TYPES),
    "SELECT * FROM append_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,"
    " $19, $20, $21, $22, $23)",
)
_ARRIVED = "SELECT 1 FROM event WHERE session_id = %s AND seq = %s AND append_id = %s"

ReadSummary = Callable[[str, str], Summary]


class Append:
    """One append. It may be run again on another connection, and takes effect once.

    The session's row is computed here, from the row at the head that the caller knows; the server compares the head
    and writes all or nothing. So one round trip is enough as long as only one process writes to a session.
    """

    def __init__(
        self,
        session: SessionId,
        at: int,
        events: Sequence[AnyEvent],
        epoch: int | None,
        *,
        projection: Projection,
        now: int,
        known: LogHead | None,
        read_summary: ReadSummary,
    ) -> None:
        self.session = session
        self._key = escape_nul(session)
        self._at = at
        self._events = tuple(events)
        encoded = bodies(session, self._events)
        self._kinds, self._bodies = Texts(escape_nul(kind) for kind, _ in encoded), Texts(body for _, body in encoded)
        self.size = sum(len(body) for _, body in encoded)
        self._epoch = epoch
        self._projection = projection
        self._now = now
        self._known = known or (LogHead() if at == 0 else None)
        self._read_summary = read_summary
        self._id = secrets.randbits(63)
        self._sent: list[Recorded] = []
        self.head: LogHead | None = None  # set when the events were written

    async def run(self, connection: Connection) -> list[Recorded]:
        sent_before = self._sent
        try:
            return await self._run(connection)
        except (HeadMoved, Fenced):
            # What was sent on a connection that broke may have arrived, and may itself have moved the head.
            if sent_before and await rows(connection, _ARRIVED, (self._key, sent_before[-1].seq, self._id)):
                return sent_before
            raise

    @property
    def is_sent(self) -> bool:
        return bool(self._sent)

    async def _run(self, connection: Connection) -> list[Recorded]:
        head = self._take_known() or await self._look(connection)
        while True:
            self._compare(head)
            if not self._events or await self._write(connection, head):
                return self._sent
            head = await self._look(connection)

    def _take_known(self) -> LogHead | None:
        """Return the head that this process knows, if the outcome will still be the server's: it compares the head
        when something is written. This head is used only once; after a failure, the head is read from the server."""
        known, self._known = self._known, None
        if known is None or known.seq != self._at or self._epoch not in (None, known.epoch) or not self._events:
            return None
        return known

    async def _look(self, connection: Connection) -> LogHead:
        found = await rows(connection, _HEAD, (self._key, self._key))
        if not found:
            return LogHead()
        seq, epoch, at, summary = found[0]
        return LogHead(seq, epoch, at, None if summary is None else self._read_summary(self.session, summary))

    def _compare(self, head: LogHead) -> None:
        if self._epoch is not None and self._epoch != head.epoch:
            raise Fenced(self.session, self._epoch, head.epoch)
        if head.seq != self._at:
            raise HeadMoved(self.session, self._at, head.seq)

    async def _write(self, connection: Connection, head: LogHead) -> bool:
        """Return False if the log does not end at this head."""
        rows_to_write = self._compute(head)
        if not rows_to_write.are_written(await APPEND.run(connection, rows_to_write.values())):
            return False
        self.settle(rows_to_write)
        return True

    def compute_early(self) -> "AppendRows | None":
        """Compute the rows from the head that this process knows. None if the head must be read first, or if rows
        must be removed, too. Afterwards the append counts as sent."""
        if any(isinstance(event, SessionDeleted) for event in self._events) or (head := self._take_known()) is None:
            return None
        computed = self._compute(head)
        if computed.changed.row is None:
            self._known, self._sent = head, []
            return None
        return computed

    def settle(self, written: "AppendRows") -> list[Recorded]:
        """To be called when these rows were written."""
        last = written.recorded[-1]
        self.head = LogHead(last.seq, last.epoch, last.at, written.changed.row)
        return written.recorded

    def _compute(self, head: LogHead) -> "AppendRows":
        recorded = place(self.session, head.seq, head.epoch, self._events, max(self._now, head.at))
        changed = project(self._projection, head.row, recorded)
        self._sent = recorded
        return AppendRows(self._key, head, self._id, recorded, self._kinds, self._bodies, changed)


class AppendRows(Struct, frozen=True):
    """The rows that one append writes if the log still ends at `head`."""

    key: str
    head: LogHead
    append_id: int
    recorded: list[Recorded]
    kinds: Texts
    bodies: Texts
    changed: "Changed"

    def values(self) -> tuple[object, ...]:
        """Return the arguments for the SQL function `append_events`."""
        return (
            self.key,
            self.head.seq,
            self.head.epoch,
            self.head.at,
            self.append_id,
            Numbers(each.epoch for each in self.recorded),
            self.kinds,
            self.bodies,
            self.recorded[-1].at,
            max((each.seq for each in self.recorded if isinstance(each.event, SessionDeleted)), default=0),
            *self.changed.values(),
        )

    def are_written(self, answer: Rows) -> bool:
        """Whether they are, by the answer of `append_events`: the head that it found."""
        ((seq, epoch, at),) = answer
        return (int(seq or 0), int(epoch or 0), int(at or 0)) == (self.head.seq, self.head.epoch, self.head.at)


class Changed(Struct, frozen=True):
    """The changes that events make to the tables of sessions and messages."""

    row: Summary | None
    dropped: bool
    messages: list[tuple[str, str, int]]

    def values(self) -> tuple[object, ...]:
        """Return the arguments for the SQL functions `write_rows` and `append_events`."""
        messages = (
            Texts(escape_nul(each[0]) for each in self.messages),
            Texts(each[1] for each in self.messages),
            Numbers(each[2] for each in self.messages),
        )
        return (self.dropped, *([None] * 9 if self.row is None else columns(self.row)), *messages)


def columns(row: Summary) -> tuple[str | int | None, ...]:
    """Return what the table of sessions holds of a row, beside its id."""
    return (
        escape_nul(row.title),
        None if row.agent_session_id is None else escape_nul(row.agent_session_id),
        escape_nul(row.cwd),
        escape_nul(",".join(row.allowed_tools)),
        escape_nul(row.last_prompt),
        row.created_at,
        row.updated_at,
        row.phase,
        msgspec.json.encode(row).decode(),
    )


def project(projection: Projection, row: Summary | None, recorded: Sequence[Recorded]) -> Changed:
    """Compute the rows from the events one by one: how the events were grouped into appends makes no difference."""
    dropped = False
    messages: list[tuple[str, str, int]] = []
    for each in recorded:
        before, row = row, projection.summary(row, each)
        if row is not None:
            messages += [(m.id, m.data, each.at) for m in projection.messages(each)]
        elif before is not None:
            messages.clear()
            dropped = True
    return Changed(row, dropped, messages)
