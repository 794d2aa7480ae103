"""A sandbox begins with its first command, ends with its owner, and leaves nothing."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from coderelay.workspace.processes import command_subreaper
from coderelay.workspace.processes.command_runner import CannotStart, ProcessesLost
from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend
from tests.house import story
from tests.patience import GROWING_LIMITS, PATIENCE
from tests.sandbox.confined import confined, eventually

FAMILY = """
trap '' TERM
sleep 91 & setsid sleep 91 & ( setsid bash -c 'exec sleep 91' & )
touch ready; wait; wait
"""
LINKS = """
import os, runpy, sys
subreaper = runpy.run_path(sys.argv[1])
alarm = subreaper["child_alarm"]()
for _ in range(300):
    if os.fork() == 0:
        os._exit(0)
    for _ in range(5):
        os.readlink("/proc/self")
    subreaper["drain_wakeup_pipe"](alarm)
print("answered")
"""
OWNER = """
import asyncio, sys
from pathlib import Path
from tests.sandbox.confined import confined

async def own(root, rung, script):
    async with confined(root, rung) as inside:
        await inside.bash(script, seconds=300)

asyncio.run(own(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
"""


def processes_with(text: str) -> list[int]:
    """Of the whole machine, by their command line or their folder."""
    found: list[int] = []
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            folder = os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            continue
        if (text.encode() in line or text in folder) and pid != os.getpid():
            found.append(pid)
    return found


@story
async def test_killing_the_owner_leaves_no_process_and_the_next_one_takes_away_the_rest(
    tmp_path: Path, backend: SandboxBackend
):
    argv = [sys.executable, "-c", OWNER, str(tmp_path), backend, FAMILY]
    owner = await asyncio.create_subprocess_exec(*argv)
    try:
        await eventually(lambda: (tmp_path / "work/ready").exists())
    finally:
        owner.kill()
        await owner.wait()
    await eventually(lambda: processes_with(str(tmp_path)) == [])
    assert ".vscode" in os.listdir(tmp_path / "work")
    async with confined(tmp_path, backend) as inside:
        await inside.output("true")
    assert os.listdir(tmp_path / "work") == ["ready"]
    assert os.listdir(tmp_path / "coder/sandboxes") == [".lock"]


@story
async def test_closing_ends_everything(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        task = asyncio.create_task(inside.bash(FAMILY))
        await eventually(lambda: (inside.work / "ready").exists())
    with pytest.raises(ProcessesLost):
        await task
    assert processes_with(str(tmp_path)) == []


@story
async def test_an_idle_sandbox_is_ended_and_comes_back(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend, idle_seconds=0.05) as inside:
        await inside.output("echo kept > $TMPDIR/a")
        await eventually(lambda: processes_with(str(inside.coder_home)) == [])
        await eventually(lambda: os.listdir(inside.work) == [])
        assert await inside.output("cat $TMPDIR/a") == "kept\n"


@story
async def test_a_sandbox_in_use_is_not_idle_and_stays_the_one_of_the_session(
    tmp_path: Path, bubblewrap: SandboxBackend
):
    async with confined(tmp_path, bubblewrap, idle_seconds=0.02) as inside:
        running = await inside.start(
            "readlink /proc/self/ns/net; until test -e gate; do sleep 0.01; done; echo through"
        )
        own = ""
        while "\n" not in own:
            assert not await running.wait(0.1)  # and so idle ones would be ended by now
            own += running.take_output()
        assert await inside.output("readlink /proc/self/ns/net") == own
        (inside.work / "gate").touch()
        assert await running.wait(60)
        assert running.finished().output == "through\n"


@pytest.mark.quick
@story
async def test_a_sandbox_that_does_not_start_is_an_error_and_nothing_runs(tmp_path: Path, bubblewrap: SandboxBackend):
    async with confined(tmp_path, bubblewrap) as inside:
        inside.work.rmdir()
        with pytest.raises(CannotStart) as refused:
            await inside.bash("touch ~/ran")
    assert (refused.value.what, os.listdir(inside.home)) == ("sandbox", [])
    assert str(refused.value).startswith("the sandbox: bwrap: ")


@story
async def test_a_home_that_cannot_be_written_is_an_error_and_nothing_runs(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        (inside.coder_home / "sandboxes").write_text("in the way")
        with pytest.raises(CannotStart) as refused:
            await inside.bash("touch ~/ran")
    assert (refused.value.what, os.listdir(inside.home)) == ("sandbox", [])


@story
async def test_a_fork_bomb_ends_in_time_and_the_machine_lives(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend, idle_seconds=0.5) as inside:
        await inside.output("true")
        try:
            bombed = await inside.bash("exec 2>/dev/null; bomb() { bomb | bomb & }; bomb; sleep 90", seconds=0.5)
            assert bombed.timed_out
        except ProcessesLost:
            pass  # the whole sandbox had to be ended
        await eventually(lambda: processes_with(str(inside.work)) == processes_with(str(inside.coder_home)))
        assert await inside.output("echo alive") == "alive\n"


@story
async def test_much_output_is_cut_in_the_middle(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        flood = "echo START; head -c 100000000 /dev/zero | tr '\\0' x; echo END"
        much = await inside.bash(flood, output_bytes=1000, seconds=PATIENCE)
    assert (much.exit_code, much.output[:6], much.output[-4:]) == (0, "START\n", "END\n")
    assert much.omitted_bytes == 100_000_000 + len("START\nEND\n") - 1000


@story
async def test_output_without_an_end_is_ended(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        limits = iter(GROWING_LIMITS)
        while not (endless := await inside.bash("exec yes", seconds=next(limits), output_bytes=1000)).output:
            pass  # it had not begun
    assert (endless.timed_out, endless.output[:4]) == (True, "y\ny\n")
    assert endless.signal in (signal.SIGTERM, signal.SIGKILL)  # whatever takes long to end is killed


@story
async def test_a_child_that_ends_does_not_fail_what_the_sandbox_answers_meanwhile(
    tmp_path: Path, backend: SandboxBackend
):
    async with confined(tmp_path, backend) as inside:
        (inside.work / "links.py").write_text(LINKS)
        assert await inside.output(f"{sys.executable} -I links.py {command_subreaper.__file__}") == "answered\n"


@story
async def test_what_ignores_being_asked_and_what_left_its_session_is_ended(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        stubborn = await inside.start(FAMILY)
        await eventually(lambda: (inside.work / "ready").exists())
        await stubborn.stop()
        assert stubborn.finished().signal == signal.SIGKILL
        assert await inside.output("ps -eo args | grep -c '[s]leep 91' || true") == "0\n"


@story
async def test_input_is_empty_and_can_be_closed(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        assert await inside.output("cat; exec <&-; echo still here") == "still here\n"


@story
async def test_a_file_without_end_is_cut_off(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        limits = await inside.output("ulimit -f; ulimit -c")
        assert limits == f"{8 << 20}\n0\n"
