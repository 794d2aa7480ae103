"""X-13: what `stream-json` shows of a session that keeps partial messages is what the log has, also after a kill."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.coder_process import Coder, Started
from tests.conftest import Serve
from tests.crash.journey import CRASHING
from tests.model_server import ModelServerThread, bash, hangs, proposes, says, script
from tests.postgres_server import rows as rows_in

pytest_plugins = ["tests.postgres"]

CoderOn = Callable[[ModelServerThread], Coder]


def keep(coder: Coder, partials: str = "always") -> None:
    coder.home.mkdir(exist_ok=True)
    (coder.home / "config.json").write_text(json.dumps({"persist_partials": partials}))


def stream_events(out: str) -> list[dict[str, Any]]:
    return [message for line in out.splitlines() if (message := json.loads(line))["type"] == "stream_event"]


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> str | None:
    """None for a file."""
    return None if request.param == "sqlite" else request.getfixturevalue("postgres").new_schema()


@pytest.fixture
def coder_on(tmp_path: Path, folder: Path, database: str | None) -> CoderOn:
    def coder_on(server: ModelServerThread) -> Coder:
        coder = Coder(tmp_path / "home", folder, server.base_url)
        coder.env |= {} if database is None else {"CODER_DATABASE_URL": database}
        return coder

    return coder_on


def stored(coder: Coder) -> list[dict[str, Any]]:
    if (url := coder.env.get("CODER_DATABASE_URL")) is not None:
        rows = rows_in(url, "SELECT id, data FROM messages ORDER BY created_at, number")
    else:
        with closing(sqlite3.connect(coder.home / "sessions.db")) as file:
            rows = file.execute("SELECT id, data FROM messages ORDER BY created_at, rowid").fetchall()
    messages = [(name, json.loads(data)) for name, data in rows]
    assert all(name == data["uuid"] for name, data in messages if data["type"] == "stream_event")
    return [data for _, data in messages if data["type"] == "stream_event"]


def shown_until(started: Started, part: str) -> str:
    out = started.process.stdout
    assert out is not None
    lines: list[str] = []
    while not lines or part not in lines[-1]:
        line = out.readline()
        assert line, "the process ended before"
        lines.append(line)
    return "".join(lines)


def test_b56_x13_what_is_shown_is_what_is_stored(serve: Serve, coder_on: CoderOn) -> None:
    answers = script(proposes(bash("true"), text="I look", thinking="hm"), says("all is done", token_delay=0.05))
    coder = coder_on(serve(answers))
    keep(coder)
    ran = coder.run("-p", "go", "--mode", "yolo", "--output", "stream-json")
    shown = stream_events(ran.out)
    assert shown == stored(coder)
    deltas = [each["event"]["delta"] for each in shown if each["event"]["type"] == "content_block_delta"]
    assert "".join(each.get("text", "") for each in deltas) == "I lookall is done"
    kinds = [json.loads(line)["type"] for line in ran.out.splitlines()]
    assert kinds[-3:] == ["stream_event", "assistant", "result"]


def test_x13_until_final_shows_pieces_and_stores_none(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("all is done"))))
    assert stream_events(coder.run("-p", "go", "--output", "stream-json").out) != []
    assert stored(coder) == []


def test_x13_killed_in_mid_answer_nothing_is_shown_twice_or_lost(serve: Serve, coder_on: CoderOn) -> None:
    answer = hangs(says("one two three four", token_delay=0.05), after_pieces=4)
    coder = coder_on(serve(script(answer, says("whole"), says("more"))))
    keep(coder)
    started = coder.start("-p", "go", "--output", "stream-json")
    before = shown_until(started, " three")
    before += started.kill().out
    shown = stream_events(before)
    assert shown == stored(coder)
    assert shown[-1]["event"]["type"] == "content_block_delta"
    after = coder.run("-p", "go on", "--continue", "--output", "stream-json")
    assert after.code == 0
    both = [*shown, *stream_events(after.out)]
    assert both == stored(coder)
    assert len({each["uuid"] for each in both}) == len(both)
    assert [each["event"]["type"] for each in stream_events(after.out)][:2] == [
        "content_block_stop",
        "content_block_start",
    ]


@pytest.mark.parametrize("arrow", [f"{side}:partials.kept:{n}" for side in ("before", "after") for n in (1, 2)])
def test_x13_killed_around_an_append_of_pieces(serve: Serve, coder_on: CoderOn, arrow: str) -> None:
    """What was not appended was not shown; what was appended and not shown is history, and is not shown again."""
    answer = hangs(says("one two three four", token_delay=0.3), after_pieces=4)
    coder = coder_on(serve(script(answer, says("whole"), says("more"))))
    keep(coder)
    killed = coder.fork(CRASHING, "-p", "go", "--output", "stream-json", env={"CODER_CRASH": arrow}).wait()
    assert killed.code == -9
    shown, before = stream_events(killed.out), stored(coder)
    assert shown == before[: len(shown)]
    after = coder.run("-p", "go on", "--continue", "--output", "stream-json")
    assert after.code == 0
    assert [*before, *stream_events(after.out)] == stored(coder)
    assert len({each["uuid"] for each in stored(coder)}) == len(stored(coder))
