"""Appends that arrive together share one statement and one commit; each succeeds or fails on its own.

An append does not wait for others if it arrives alone and the append before it also arrived alone.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.events import Recorded
from coderelay.protocol.ids import SessionId
from coderelay.store.postgres.append import APPEND, Append, AppendRows, columns
from coderelay.store.postgres.connection import Connection, ConnectionPool, StartedWork, Unreachable
from coderelay.store.postgres.prepared_statement import PreparedStatement, Rows
from coderelay.store.postgres.value_encoding import Numbers, Texts, escape_nul

GROUP = 64
_GROUP_CHARACTERS = 1_000_000
_GROUPS_AT_ONCE = 2
"""While one group is being written, the next one is prepared. With more of them, groups would be smaller."""
_T, _N = "text[]", "bigint[]"
APPEND_GROUP = PreparedStatement(
    "append_group",
    (_T, _N, _N, _N, _N, _N, _N, _N, _T, _T, _N, _T, _T, _T, _T, _T, _N, _N, _T, _T, _N, _T, _T, _N),
    "SELECT * FROM unnest(append_group($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,"
    " $18, $19, $20, $21, $22, $23, $24))",
)
_UNSETTLED = "Whether the last events were written will be seen when it is back."

Done = asyncio.Future[list[Recorded]]


class AppendQueue:
    """Writes appends, in groups where they come together. `written` is called for each that wrote something."""

    def __init__(self, lines: ConnectionPool, begun: StartedWork, written: Callable[[Append], None]) -> None:
        self._lines = lines
        self._begun = begun
        self._written = written
        self._waiting: deque[tuple[Append, Done]] = deque()
        self._running = 0
        self._last_append_was_alone = False  # the last append arrived alone, so the next one is not delayed

    async def submit(self, append: Append) -> list[Recorded]:
        """Returns when it is on disk. It is carried out even if the caller is cancelled: that cancels only `done`."""
        done: Done = asyncio.get_running_loop().create_future()
        if self._last_append_was_alone and not self._running and await self._send_alone(append, done):
            return await done
        self._waiting.append((append, done))
        if self._running < _GROUPS_AT_ONCE:
            self._running += 1
            self._begun.start(self._write_groups())
        return await done

    async def _send_alone(self, append: Append, done: Done) -> bool:
        """Send an append at once, without making a task for it. Returns False if that cannot be done now; otherwise
        the answer of the server settles it. Waits for nothing."""
        if (line := await self._lines.take()) is None:
            return False
        computed, connection = _compute_early(append), line.usable()
        if computed is None or connection is None:
            self._lines.give_back(line)
            return False
        self._running += 1
        end = self._begun.expect()

        def answered(answer: Rows | Exception) -> None:
            self._lines.give_back(line)
            if self._waiting:
                self._begun.start(self._write_groups())  # those that came meanwhile
            else:
                self._running -= 1
            failure = self._lines.failure(answer) if isinstance(answer, Exception) else None
            if failure is not None:
                _fail(done, failure)
            elif not isinstance(answer, Exception) and computed.are_written(answer):
                self._settle(append, done, append.settle(computed))
            else:
                self._begun.start(self._write_one(append, done))  # it finds out what was written
            end.set_result(None)

        try:
            APPEND.start(connection, computed.values(), answered)
        except Exception as error:  # noqa: BLE001 - it is run again, and fails again or gets another connection
            answered(error)
        return True

    async def _write_groups(self) -> None:
        try:
            while self._waiting:
                group = self._next_group()
                self._last_append_was_alone = len(group) == 1
                if len(group) == 1:
                    await self._write_one(*group[0])
                else:
                    await self._write_group(group)
        finally:
            self._running -= 1

    def _next_group(self) -> list[tuple[Append, Done]]:
        """Take the appends that came first, but only one for each session."""
        group: dict[SessionId, tuple[Append, Done]] = {}
        left: list[tuple[Append, Done]] = []
        size = 0
        while self._waiting and len(group) < GROUP and size < _GROUP_CHARACTERS:
            append, done = self._waiting.popleft()
            if append.session in group:
                left.append((append, done))
            else:
                group[append.session] = append, done
                size += append.size
        self._waiting.extendleft(reversed(left))
        return list(group.values())

    async def _write_group(self, group: list[tuple[Append, Done]]) -> None:
        computed = [(append, done, found) for append, done in group if (found := _compute_early(append))]
        written: list[bool] = []
        try:
            if len(computed) > 1:
                written = await self._lines.use(AppendGroup([each[2] for each in computed]).run)
        except Exception:  # noqa: BLE001, S110 - one may be the cause: each is run alone, and finds out what was written
            pass
        settled = {append for (append, _, _), is_written in zip(computed, written, strict=False) if is_written}
        for append, done, found in computed:
            if append in settled:
                self._settle(append, done, append.settle(found))
        for append, done in group:
            if append not in settled:
                self._begun.start(self._write_one(append, done))

    async def _write_one(self, append: Append, done: Done) -> None:
        try:
            recorded = await self._lines.use(append.run)
        except Unreachable as error:
            failed = StoreFailed(error.message, _UNSETTLED if append.is_sent else error.hint)
            failed.__cause__ = error
            _fail(done, failed)
        except Exception as error:  # noqa: BLE001 - the queue must outlive any failure; whoever waits is told
            _fail(done, error)
        else:
            self._settle(append, done, recorded)

    def _settle(self, append: Append, done: Done, recorded: list[Recorded]) -> None:
        if recorded:
            self._written(append)
        if not done.cancelled():
            done.set_result(recorded)


class AppendGroup:
    """Appends to different sessions in one statement."""

    def __init__(self, appends: Sequence[AppendRows]) -> None:
        self._appends = appends
        self._is_sent = False

    async def run(self, connection: Connection) -> list[bool]:
        """Return for each append whether it was written. Returns nothing if the connection broke: then each append
        must find out for itself whether it arrived."""
        if self._is_sent:
            return []
        self._is_sent = True
        return [written == b"t" for (written,) in await APPEND_GROUP.run(connection, self._values())]

    def _values(self) -> tuple[object, ...]:
        appends = self._appends
        events = [
            (n, *each) for n, a in enumerate(appends, 1) for each in zip(a.recorded, a.kinds, a.bodies, strict=True)
        ]
        messages = [(n, *each) for n, append in enumerate(appends, 1) for each in append.changed.messages]
        titles, agents, folders, tools, prompts, created, updated, phases, summaries = zip(
            *(columns(append.changed.row) for append in appends if append.changed.row is not None), strict=True
        )
        return (
            Texts(append.key for append in appends),
            Numbers(append.head.seq for append in appends),
            Numbers(append.head.epoch for append in appends),
            Numbers(append.head.at for append in appends),
            Numbers(append.append_id for append in appends),
            Numbers(n for n, *_ in events),
            Numbers(recorded.seq for _, recorded, _, _ in events),
            Numbers(recorded.epoch for _, recorded, _, _ in events),
            Texts(kind for _, _, kind, _ in events),
            Texts(body for _, _, _, body in events),
            Numbers(recorded.at for _, recorded, _, _ in events),
            *(Texts(column) for column in (titles, agents, folders, tools, prompts)),
            Numbers(created),
            Numbers(updated),
            Texts(phases),
            Texts(summaries),
            Numbers(n for n, *_ in messages),
            Texts(escape_nul(message) for _, message, _, _ in messages),
            Texts(data for _, _, data, _ in messages),
            Numbers(at for _, _, _, at in messages),
        )


def _compute_early(append: Append) -> AppendRows | None:
    try:
        return append.compute_early()
    except Exception:  # noqa: BLE001 - one of a group must not stop the others; run alone, it fails again
        return None


def _fail(done: Done, error: Exception) -> None:
    if not done.cancelled():
        done.set_exception(error)
        done.exception()  # marks it as retrieved: a cancelled caller will not ask for it
