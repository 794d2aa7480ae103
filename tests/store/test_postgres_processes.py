"""Many processes on one log."""

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.events import PromptAdmitted
from coderelay.protocol.ids import SessionId
from coderelay.store.postgres.migrations import MAJOR, STEPS
from coderelay.store.postgres.store import PostgresStore
from coderelay.testing.store_suite import summary_of
from tests.house import story
from tests.postgres_server import PrivateServer, rows
from tests.store.postgres_process import append_forever, append_once_at_head, create, hear, start, tell

pytest_plugins = ["tests.postgres"]


def test_eight_processes_make_the_same_log_at_once(postgres: PrivateServer) -> None:
    processes = [start(create, f"p{number}") for number in range(8)]
    try:
        assert [hear(process) for process in processes] == ["ready"] * 8
        for _ in range(5):
            url = postgres.new_schema()
            for process in processes:
                tell(process, url)
            assert [hear(process) for process in processes] == ["ok"] * 8
            assert rows(url, "SELECT count(*) FROM sessions") == [(8,)]
            assert rows(url, "SELECT version FROM schema_version") == [(MAJOR * 1000 + len(STEPS),)]
    finally:
        for process in processes:
            process.communicate()


@story
async def test_three_processes_contend_for_one_session(database: str) -> None:
    processes = [start(append_once_at_head, database, name, 60) for name in "abc"]
    assert [hear(process) for process in processes] == ["ready"] * 3
    for process in processes:
        tell(process, "go")
    assert [process.communicate() and process.returncode for process in processes] == [0] * 3
    store = PostgresStore(database, SessionRows())
    log = await store.read(SessionId("shared"))
    await store.close()
    assert [each.seq for each in log] == list(range(1, 181))
    texts = [each.event.text for each in log if isinstance(each.event, PromptAdmitted)]
    for name in "abc":
        assert [text for text in texts if text[0] == name] == [f"{name} {number}" for number in range(60)]


@story
async def test_what_was_acknowledged_survives_kill_9(database: str) -> None:
    acknowledged: set[tuple[str, int]] = set()
    for round_, until in enumerate((1, 40, 130, 333)):
        with start(append_forever, database, round_) as process:
            said = [hear(process) for _ in range(until)]
            process.kill()
            said += process.communicate()[0].splitlines()
        acknowledged |= {_acknowledged(line) for line in said if line.count(" ") == 1}
        events: list[tuple[str, int]] = rows(database, "SELECT session_id, seq FROM event ORDER BY session_id, seq")
        assert acknowledged <= set(events)
        for session in {session for session, _ in events}:
            numbers = [seq for each, seq in events if each == session]
            assert numbers == list(range(1, len(numbers) + 1))
            assert len(numbers) % 2 == 1  # appends of two events, after the first of three, are there whole
    store = PostgresStore(database, SessionRows())
    for summary in await store.sessions():
        assert summary == summary_of(await store.read(summary.id, limit=100_000))
    await store.close()


def _acknowledged(line: str) -> tuple[str, int]:
    session, seq = line.split()
    return session, int(seq)
