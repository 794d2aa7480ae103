"""A message with more calls than anybody could look through."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from coderelay.agents.native.turn_steps import MOST_CALLS
from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, proposes, says, script

CoderOn = Callable[[ModelServerThread], Coder]


def test_three_hundred_calls_of_one_message_were_all_run(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(
        script(
            proposes(*(bash(f"touch made-{number}") for number in range(300))),
            proposes(*(bash(f"touch few-{number}") for number in range(MOST_CALLS))),
            says("done"),
        )
    )
    coder = coder_on(server)
    assert coder.run("-p", "make files", "--mode", "yolo") == Ran(0, "done\n", "")
    assert list(folder.glob("made-*")) == []
    assert len(list(folder.glob("few-*"))) == MOST_CALLS
    results = [each["content"] for each in server.requests[1]["messages"] if each["role"] == "tool"]
    assert len(results) == 300
    assert "300 calls in one message are too many, so none of them was run" in results[0]
    with closing(sqlite3.connect(coder.home / "sessions.db")) as log:
        (started,) = log.execute("SELECT count(*) FROM event WHERE kind = 'call.started'").fetchone()
    assert started == MOST_CALLS
