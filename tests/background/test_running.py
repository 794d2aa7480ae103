"""A command that was started and not waited for: what it has written so far, its end, and how it is stopped."""

import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from coderelay.workspace.processes.command_runner import CannotStart, Processes, ProcessesLost, RunningCommand
from tests.background.background_commands import PATIENCE, is_alive
from tests.house import story

pytestmark = pytest.mark.quick


@asynccontextmanager
async def opened() -> AsyncGenerator[Processes]:
    processes = Processes()
    try:
        yield processes
    finally:
        await processes.close()


async def start(processes: Processes, root: Path, command: str) -> RunningCommand:
    return await processes.start(["/bin/bash", "-c", command], cwd=str(root), env={"PATH": os.environ["PATH"]})


def block_until_there(path: Path) -> None:
    """Without letting the event loop read anything meanwhile."""
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@story
async def test_d17_what_it_has_written_is_taken_once_and_up_to_this_moment(tmp_path: Path) -> None:
    async with opened() as processes:
        waits = "echo one; touch begun; until [ -e more ]; do sleep .01; done; echo two; exit 3"
        running = await start(processes, tmp_path, waits)
        block_until_there(tmp_path / "begun")
        assert (running.take_output(), running.take_output(), running.is_over) == ("one\n", "", False)
        (tmp_path / "more").touch()
        assert await running.wait()
        ended = running.finished()
        assert (ended.exit_code, ended.signal, ended.output, ended.timed_out) == (3, None, "two\n", False)
        assert (running.take_output(), running.take_output()) == ("two\n", "")
        took = running.seconds
        assert took == running.seconds == ended.seconds > 0


@story
async def test_d17_a_stop_leaves_nothing_and_may_come_twice(tmp_path: Path) -> None:
    async with opened() as processes:
        escapes = "trap '' TERM; (setsid sleep 600 & echo $!) > pid; touch begun; sleep 600"
        running = await start(processes, tmp_path, escapes)
        block_until_there(tmp_path / "begun")
        pid = int((tmp_path / "pid").read_text())
        await running.stop()
        await running.stop()
        assert (running.is_over, running.finished().signal, is_alive(pid)) == (True, 9, False)


@story
async def test_d17_background_command_that_cannot_start_reports_it_when_it_ends(tmp_path: Path) -> None:
    async with opened() as processes:
        running = await processes.start(["/no/such/program"], cwd=str(tmp_path), env={})
        assert await running.wait(PATIENCE)
        with pytest.raises(CannotStart):
            running.finished()


@story
async def test_d17_closing_ends_those_nobody_waits_for(tmp_path: Path) -> None:
    async with opened() as processes:
        running = await start(processes, tmp_path, "echo $$ > pid; touch begun; exec sleep 600")
        block_until_there(tmp_path / "begun")
    assert not is_alive(int((tmp_path / "pid").read_text()))
    assert running.is_over
    with pytest.raises(ProcessesLost):
        running.finished()
