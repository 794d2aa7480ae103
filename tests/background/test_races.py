"""Whoever comes first and whoever comes late: a command ends once, and none runs that the log does not know."""

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path

from coderelay.config.loaded_config import Config
from coderelay.host.host import Host
from coderelay.protocol.background_commands import Exited, Gone, StoppedBy
from coderelay.protocol.calls import Call, Failed, Finished, Need, Unknown
from coderelay.protocol.events import BackgroundEnded, SessionClaimed
from coderelay.protocol.ids import OwnerId, SessionId
from coderelay.protocol.queries import ListBackground
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.workspace import Workspace
from tests.background.background_commands import (
    ONE,
    RUNS,
    HastyHouse,
    ends,
    eventually,
    in_background,
    is_alive,
    is_end,
    outcomes,
    pid_in,
    stop,
)
from tests.house import ME, house, story
from tests.model_server import proposes, says, script


class _OvertakenToolbox(Toolbox):
    """Once a call has run, and before its end is written, another process takes the session."""

    async def run(self, call: Call, workspace: Workspace, judged: Need | None = None) -> Finished | Failed:
        outcome = await super().run(call, workspace, judged)
        await OvertakenHouse.overtake()
        return outcome


class OvertakenHouse(HastyHouse):
    host: Host
    session: SessionId

    def __init__(self, config: Config, env: Mapping[str, str]) -> None:
        super().__init__(config, env)
        OvertakenHouse.times = 1

    times: int

    def toolbox(self) -> Toolbox:
        return _OvertakenToolbox(self.tools())

    @classmethod
    async def overtake(cls) -> None:
        if cls.times:
            cls.times -= 1
            record = await cls.host.load(cls.session)
            claimed = SessionClaimed(owner=OwnerId("other"), epoch=record.state.epoch + 1)
            await record.append(lambda _: [claimed])


@story
async def test_d17_x25_one_whose_start_could_not_be_written_is_ended(tmp_path: Path) -> None:
    """Symptom it prevents: a process runs that nobody can list or stop."""
    steps = [proposes(in_background(RUNS)), says("so")]
    async with house(tmp_path, script(*steps), build=OvertakenHouse) as coder:
        OvertakenHouse.host, OvertakenHouse.session = coder.host, await coder.create()
        await coder.prompt("go")
        await coder.ended()
        assert await outcomes(coder) == [Unknown()]
        pid = await pid_in(coder.folder)
        await eventually(lambda: not is_alive(pid))
        assert await coder.host.get(ListBackground(coder.session)) == []


@story
async def test_d17_x25_a_stop_and_an_end_at_the_same_time_are_one_end(tmp_path: Path) -> None:
    """Whoever is faster; from two processes, again and again."""
    count = 12
    waits = "until [ -e go{0} ]; do sleep .001; done"
    steps = [proposes(*(in_background(waits.format(each)) for each in range(1, count + 1))), says("started")]
    async with house(tmp_path, script(*steps), build=HastyHouse) as one, house(tmp_path, script()) as other:
        await one.prompt("go")
        await one.ended()
        other.session = one.session
        for each in range(1, count + 1):
            (one.folder / f"go{each}").touch()
            await asyncio.gather(stop(one, str(each)), stop(other, str(each)))
        seen: set[str] = set()
        await other.until(lambda event: is_end(event) and (seen.add(str(event)) or len(seen) == count))
        found = dict(await ends(other))
        assert len(await ends(other)) == len(found) == count
        assert all(end in (Exited(0), StoppedBy(ME)) for end in found.values())


@story
async def test_d17_background_command_recorded_as_gone_is_stopped(tmp_path: Path) -> None:
    """As another process would that found no lock of ours: what the log says is made true."""
    steps = [proposes(in_background(RUNS)), says("started")]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        await coder.prompt("go")
        await coder.ended()
        pid = await pid_in(coder.folder)
        record = await coder.host.load(coder.session)
        await record.append(lambda _: [BackgroundEnded(background_id=ONE, end=Gone())])
        await eventually(lambda: not is_alive(pid))
        assert await ends(coder) == [("1", Gone())]


@story
async def test_d17_one_whose_supervisor_dies_is_gone(tmp_path: Path) -> None:
    steps = [proposes(in_background(RUNS)), says("started")]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        await coder.prompt("go")
        await coder.ended()
        pid = await pid_in(coder.folder)
        _kill_supervisor_of(pid)
        await coder.until(is_end)
        assert await ends(coder) == [("1", Gone())]
        await eventually(lambda: not is_alive(pid))


def _kill_supervisor_of(pid: int) -> None:
    """Its subreaper's parent."""
    subreaper = _parent_of(pid)
    os.kill(_parent_of(subreaper), signal.SIGKILL)


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
