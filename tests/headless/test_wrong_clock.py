"""A clock that was wrong for a while."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing

from coderelay.testing.model_server import without_notes
from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.model_server import ModelServerThread, says, script

YEAR = 365 * 24 * 3600 * 1000


def test_a_session_touched_under_a_wrong_clock_stayed_the_newest_for_good(
    serve: Serve, coder_on: Callable[[ModelServerThread], Coder]
) -> None:
    server = serve(script(says("a"), says("b"), says("c")))
    coder = coder_on(server)
    assert coder.run("-p", "under a wrong clock").code == 0
    _put_ahead(coder)
    assert coder.run("-p", "later").code == 0
    listed = coder.run("sessions", "--json").out.splitlines()
    assert [json.loads(each)["title"] for each in listed] == ["later", "under a wrong clock"]
    assert coder.run("-p", "go on", "--continue") == Ran(0, "c\n", "")
    said = [each for each in server.requests[-1]["messages"] if each["role"] == "user"]
    assert [without_notes(each["content"]) for each in said] == ["later", "go on"]


def _put_ahead(coder: Coder) -> None:
    """As if the clock had been a year ahead when the session was written."""
    with closing(sqlite3.connect(coder.home / "sessions.db")) as log, log:
        log.execute("UPDATE event SET at = at + ?", (YEAR,))
        log.execute(
            "UPDATE sessions SET updated_at = updated_at + ?,"
            " summary = json_set(summary, '$.updated_at', json_extract(summary, '$.updated_at') + ?)",
            (YEAR, YEAR),
        )
