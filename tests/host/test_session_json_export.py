"""The snapshot file of a session is written in a thread: everybody else goes on, and the last state wins."""

import asyncio
import json
import threading
from pathlib import Path

import pytest

from coderelay.host import session_json_export
from coderelay.protocol.commands import ClearHistory, WriteSnapshot
from coderelay.protocol.events import HistoryCleared
from coderelay.protocol.queries import ShowSession
from tests.house import ME, InHouse, house, story
from tests.model_server import says, script
from tests.patience import PATIENCE


class SlowDisk:
    """Holds up the next session file until it is told to go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._write = session_json_export.write_whole
        self._begun, self._goes_on = threading.Event(), threading.Event()
        self._is_slow = False
        monkeypatch.setattr(session_json_export, "write_whole", self._write_slowly)

    def hold_up(self) -> None:
        self._is_slow = True

    async def begun(self) -> None:
        assert await asyncio.to_thread(self._begun.wait, PATIENCE)

    def go_on(self) -> None:
        self._goes_on.set()

    def _write_slowly(self, path: str, content: bytes, mode: int) -> None:
        if self._is_slow and path.endswith(".json"):
            self._is_slow = False
            self._begun.set()
            assert self._goes_on.wait(PATIENCE), "the event loop waited for the disk"
        self._write(path, content, mode)


def roles(coder: InHouse) -> list[str]:
    path = coder.folder / ".coder" / "sessions" / f"{coder.session}.json"
    return [each["role"] for each in json.loads(path.read_text())["messages"]]


@story
async def test_c48_a_session_file_on_a_slow_disk_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SlowDisk(monkeypatch)
    disk.hold_up()
    async with house(tmp_path, script(says("one"))) as coder:
        await coder.prompt("a")
        await disk.begun()
        assert (await coder.host.get(ShowSession(coder.session))).phase == "done"
        disk.go_on()
    assert roles(coder) == ["system", "user", "assistant"]  # written before the process leaves


@story
async def test_c48_of_two_session_files_the_later_one_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = SlowDisk(monkeypatch)
    async with house(tmp_path, script(says("one"))) as coder:
        await coder.prompt("a")
        await coder.ended()
        await coder.host.send(WriteSnapshot(session=coder.session, by=ME))  # after the one at the end of the turn
        disk.hold_up()
        first = asyncio.create_task(coder.host.send(WriteSnapshot(session=coder.session, by=ME)))
        await disk.begun()
        second = asyncio.create_task(coder.host.send(ClearHistory(session=coder.session, by=ME)))
        await coder.until(lambda event: isinstance(event, HistoryCleared))
        await asyncio.wait({second}, timeout=0.2)  # it must not overtake the first one, even if it could
        assert not second.done()
        disk.go_on()
        await asyncio.gather(first, second)
        assert roles(coder) == ["system"]
