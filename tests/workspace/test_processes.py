"""Commands run to their end, and nothing of them is left: real processes, asked by pid."""

import asyncio
import errno
import gc
import os
import signal
import sys
import time
import tracemalloc
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import wraps
from pathlib import Path

import msgspec
import pytest

from coderelay.workspace.processes.command_runner import CannotStart, FinishedCommand, Processes, ProcessesLost
from coderelay.workspace.processes.environment import command_environment
from tests.patience import GROWING_LIMITS, PATIENCE

ENV = {"PATH": os.environ["PATH"]}
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and a subreaper")

FAMILY = """
trap '' TERM
sleep 90 & echo $! > child
setsid sleep 90 & echo $! > session
( setsid bash -c 'echo $$ > daemon; exec sleep 90' & )
echo $PPID > subreaper; cut -d' ' -f4 /proc/$PPID/stat > supervisor
echo $$ > leader; wait
"""
MEMBERS = ("leader", "child", "session", "daemon")
PARENTS = ("subreaper", "supervisor")
OWNER = """
import asyncio, sys
from coderelay.workspace.processes.command_runner import Processes
asyncio.run(Processes().run(["bash", "-c", sys.argv[2]], cwd=sys.argv[1], env={"PATH": sys.argv[3]}, seconds=90))
"""
RELAY = """
import os, time
end = time.monotonic() + 30
while time.monotonic() < end:
    if os.fork(): os._exit(0)
    os.setsid(); open("last", "w").write(str(os.getpid()))
"""


def story(test: Callable[..., Coroutine[None, None, None]]) -> Callable[..., None]:
    @wraps(test)
    def tell(*args: object, **kwargs: object) -> None:
        asyncio.run(test(*args, **kwargs))

    return tell


@asynccontextmanager
async def commands() -> AsyncGenerator[Processes]:
    processes = Processes()
    try:
        yield processes
    finally:
        await processes.close()


async def bash(processes: Processes, script: str, cwd: Path | str = "/") -> FinishedCommand:
    return await processes.run(["bash", "-c", script], cwd=str(cwd), env=ENV, seconds=60)


def run(script: str, cwd: Path | str = "/", *, seconds: float = 60, output_bytes: int = 1 << 20) -> FinishedCommand:
    async def once() -> FinishedCommand:
        async with commands() as processes:
            argv = ["bash", "-c", script]
            return await processes.run(argv, cwd=str(cwd), env=ENV, seconds=seconds, output_bytes=output_bytes)

    return asyncio.run(once())


def limited(script: str, cwd: Path | str = "/") -> FinishedCommand:
    """Run a script without an end, which says something first, with a time limit."""
    tries = (run(script, cwd, seconds=seconds) for seconds in GROWING_LIMITS)
    return next(finished for finished in tries if finished.output)


async def eventually(claim: Callable[[], bool], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, "this did not happen in time"
        await asyncio.sleep(0.005)


def pid_in(file: Path) -> int:
    return int(file.read_text() or 0) if file.exists() else 0


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        # An orphan of ours is dead too while init takes its time to reap it.
        return sys.platform != "linux" or ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


def living(pids: dict[str, int], names: tuple[str, ...] = MEMBERS) -> list[str]:
    return [name for name in names if is_alive(pids[name])]


async def family(folder: Path) -> dict[str, int]:
    await eventually(lambda: all(pid_in(folder / name) for name in (*MEMBERS, *PARENTS)))
    pids = {name: pid_in(folder / name) for name in (*MEMBERS, *PARENTS)}
    assert living(pids, MEMBERS + PARENTS) == [*MEMBERS, *PARENTS]
    return pids


@asynccontextmanager
async def running_family(
    folder: Path,
) -> AsyncGenerator[tuple[Processes, asyncio.Task[FinishedCommand], dict[str, int]]]:
    async with commands() as processes:
        task = asyncio.create_task(bash(processes, FAMILY, folder))
        yield processes, task, await family(folder)


def test_output_and_errors_come_in_the_order_they_were_written():
    finished = run("for i in $(seq 100); do echo out $i; echo err $i >&2; done")
    assert finished.output == "".join(f"out {i}\nerr {i}\n" for i in range(1, 101))


def test_the_end_of_a_command_is_told():
    ends = [run(script) for script in ("true", "exit 3", "kill -TERM $$", "kill -KILL $$")]
    assert [(end.exit_code, end.signal) for end in ends] == [(0, None), (3, None), (None, 15), (None, 9)]


def test_a_command_reads_an_empty_input():
    assert run("cat; echo read").output == "read\n"


@linux
def test_a_command_inherits_no_descriptor_and_no_ignored_signal():
    assert run("ls /proc/$$/fd; true").output.split() == ["0", "1", "2"]
    ignored = int(run("grep SigIgn /proc/self/status").output.split()[1], 16)
    assert ignored & 0x7FFF_FFFF == 0  # the first 31; those above belong to the C library


@linux
def test_the_parents_of_a_command_show_it_no_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    finished = run("cat /proc/$PPID/environ /proc/$(cut -d' ' -f4 /proc/$PPID/stat)/environ; env")
    assert (finished.exit_code, "secret" in finished.output) == (0, False)


def test_the_time_limit_asks_first():
    finished = limited("trap 'echo bye; exit 7' TERM; sleep 90 & wait")
    assert (finished.exit_code, finished.output, finished.timed_out) == (7, "bye\n", True)


def test_the_time_limit_ends_what_ignores_being_asked(tmp_path: Path):
    finished = limited("trap '' TERM; sleep 90 & echo $! > child; echo begun; wait", tmp_path)
    assert (finished.signal, finished.output, finished.timed_out) == (signal.SIGKILL, "begun\n", True)
    assert not is_alive(pid_in(tmp_path / "child"))


@linux
@story
async def test_cancelling_leaves_nothing_however_it_forked_and_however_often_it_is_cancelled(tmp_path: Path):
    async with running_family(tmp_path) as (_, task, pids):
        while not task.done():
            task.cancel()
            await asyncio.sleep(0)
        assert (task.cancelled(), living(pids)) == (True, [])


@linux
@story
async def test_killing_the_owner_leaves_nothing(tmp_path: Path):
    owner = await asyncio.create_subprocess_exec(sys.executable, "-c", OWNER, str(tmp_path), FAMILY, ENV["PATH"])
    try:
        pids = await family(tmp_path)
    finally:
        owner.kill()
        await owner.wait()
    await eventually(lambda: not living(pids, MEMBERS + PARENTS))


@linux
@story
async def test_killing_the_supervisor_loses_its_commands_and_the_next_one_runs(tmp_path: Path):
    async with running_family(tmp_path) as (processes, task, pids):
        os.kill(pids["supervisor"], signal.SIGKILL)
        with pytest.raises(ProcessesLost) as lost:
            await task
        assert (lost.value.program, lost.value.closed, living(pids)) == ("bash", False, [])
        assert (await bash(processes, "echo again")).output == "again\n"


@linux
@story
async def test_killing_supervisor_and_subreaper_together_left_three_processes(tmp_path: Path):
    async with running_family(tmp_path) as (processes, task, pids):
        for name in ("supervisor", "subreaper"):  # in this order: a supervisor kills a subreaper that is stopped
            os.kill(pids[name], signal.SIGSTOP)  # so that neither can do anything about the other's death
        for name in ("subreaper", "supervisor"):
            os.kill(pids[name], signal.SIGKILL)
        with pytest.raises(ProcessesLost):
            await task
        assert living(pids) == []
        assert (await bash(processes, "echo again")).output == "again\n"


@linux
@story
async def test_killing_owner_supervisor_and_subreaper_together_leaves_nothing_to_the_next_owner(tmp_path: Path):
    owner = await asyncio.create_subprocess_exec(sys.executable, "-c", OWNER, str(tmp_path), FAMILY, ENV["PATH"])
    pids = await family(tmp_path)
    everybody = (pids["subreaper"], pids["supervisor"], owner.pid)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in everybody:
            with suppress(ProcessLookupError):  # the first to be killed may take another along
                os.kill(pid, number)
    await owner.wait()
    async with commands() as next_owner:
        assert (await bash(next_owner, "echo again")).output == "again\n"
        await eventually(lambda: not living(pids))


@linux
@story
async def test_killing_a_subreaper_loses_its_command_only(tmp_path: Path):
    async with running_family(tmp_path) as (processes, task, pids):
        other = asyncio.create_task(bash(processes, "until test -e gate; do sleep 0.01; done", tmp_path))
        os.kill(pids["subreaper"], signal.SIGKILL)
        with pytest.raises(ProcessesLost):
            await task
        await eventually(lambda: not living(pids))
        (tmp_path / "gate").touch()
        assert ((await other).exit_code, living(pids, PARENTS)) == (0, ["supervisor"])


@linux
@story
async def test_a_daemon_lives_as_long_as_its_own_command_whatever_else_ends(tmp_path: Path):
    async with running_family(tmp_path) as (processes, task, pids):
        await asyncio.gather(*(bash(processes, "setsid sleep 90 &") for _ in range(5)))
        assert living(pids) == list(MEMBERS)
        os.kill(pids["leader"], signal.SIGKILL)
        assert ((await task).signal, living(pids)) == (signal.SIGKILL, [])


@linux
def test_a_process_that_forks_and_exits_without_pause_does_not_escape(tmp_path: Path):
    (tmp_path / "relay.py").write_text(RELAY)
    assert run(f"{sys.executable} relay.py; until test -s last; do :; done", tmp_path).exit_code == 0
    seen = (tmp_path / "last").read_text()
    assert run("true").exit_code == 0
    assert (tmp_path / "last").read_text() == seen


@linux
def test_a_background_child_that_holds_the_output_does_not_hold_the_command(tmp_path: Path):
    finished = run("sleep 90 & echo $! > child; setsid sleep 90 & echo $! > session; echo done", tmp_path)
    assert (finished.output, finished.timed_out) == ("done\n", False)
    assert not any(is_alive(pid_in(tmp_path / name)) for name in ("child", "session"))


@story
async def test_closing_ends_running_commands_and_is_repeatable(tmp_path: Path):
    await Processes().close()
    processes = Processes()
    task = asyncio.create_task(bash(processes, "sleep 90 & echo $! > child; wait", tmp_path))
    await eventually(lambda: pid_in(tmp_path / "child") > 0)
    await asyncio.gather(processes.close(), processes.close())
    await processes.close()
    assert not is_alive(pid_in(tmp_path / "child"))
    for lost in (task, bash(processes, "true")):
        with pytest.raises(ProcessesLost) as caught:
            await lost
        assert caught.value.closed


@story
async def test_twenty_at_once():
    async with commands() as processes:
        all_of_them = await asyncio.gather(*(bash(processes, f"echo {i}; exit {i}") for i in range(20)))
    assert [(each.exit_code, each.output) for each in all_of_them] == [(i, f"{i}\n") for i in range(20)]


@linux
@story
async def test_no_descriptor_is_left_open(tmp_path: Path):
    async with commands() as processes:
        await bash(processes, "true")
        gc.collect()  # what other tests have left behind must not be closed meanwhile
        before = _open_files()
        await processes.run(["sleep", "90"], cwd="/", env=ENV, seconds=0.05)
        with pytest.raises(CannotStart):
            await bash(processes, "true", tmp_path / "missing")
        gc.collect()
        assert _open_files() == before


def _open_files() -> list[str]:
    """What kind of files the descriptors of this process lead to; their numbers are given again to others."""
    found: list[str] = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the descriptor of the folder that is listed
            found.append(os.readlink(f"/proc/self/fd/{number}").partition(":")[0])
    return sorted(found)


@pytest.mark.parametrize(
    ("argv", "folder", "what", "number"),
    [
        (["true"], "missing", "folder", errno.ENOENT),
        (["true"], "file", "folder", errno.ENOTDIR),
        (["no-such-program"], "", "program", errno.ENOENT),
        (["./file"], "", "program", errno.EACCES),
        (["true", "x" * 200_000], "", "program", errno.E2BIG),
        (["true", "a\0b"], "", "program", errno.EINVAL),
        (["true", "\ud83d"], "", "program", errno.EINVAL),
    ],
)
@story
async def test_what_cannot_start_says_why(tmp_path: Path, argv: list[str], folder: str, what: str, number: int):
    (tmp_path / "file").write_text("not a program")
    async with commands() as processes:
        with pytest.raises(CannotStart) as refused:
            await processes.run(argv, cwd=str(tmp_path / folder), env=ENV, seconds=60)
    assert (refused.value.program, refused.value.what, refused.value.errno) == (argv[0], what, number)


@story
async def test_a_supervisor_that_cannot_start_is_told():
    with pytest.raises(CannotStart) as refused:
        await bash(Processes(supervisor_python="/no/such/python"), "true")
    assert (refused.value.program, refused.value.what) == ("/no/such/python", "process")


def impostor(folder: Path, script: str) -> Processes:
    """A supervisor that somebody has taken the place of. `control` is its end of ours."""
    program = folder / "python"
    program.write_text(f"#!{sys.executable}\nimport os, socket, time\ncontrol = socket.socket(fileno=0)\n{script}")
    program.chmod(0o755)
    return Processes(supervisor_python=str(program))


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"ended 0",
        b"ended 0\nended 0\n",
        b"ended 99999\n",
        b"ended \xd9\xa1\n",
        bytes.fromhex("a8020000003c0100000072000000004e"),
        b"ended " + b"0" * (64 << 20) + b"\n",
    ],
    ids=["nothing", "half", "twice", "no-code", "no-number", "marshalled", "endless"],
)
@story
async def test_a_reply_that_no_subreaper_would_write_is_none_and_is_not_held(tmp_path: Path, reply: bytes):
    script = """
control.send(b"!")
_, (command, *_), _, _ = socket.recv_fds(control, 1, 4)
command = socket.socket(fileno=command)
command.recv(1 << 20)
command.sendall(open("REPLY", "rb").read())
command.close()
control.recv(1)
"""
    (tmp_path / "reply").write_bytes(reply)
    processes = impostor(tmp_path, script.replace("REPLY", str(tmp_path / "reply")))
    tracemalloc.start()
    try:
        with pytest.raises(ProcessesLost):
            await bash(processes, "true")
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
        await processes.close()


@story
async def test_a_supervisor_that_closes_its_socket_and_stays_does_not_hold_the_owner(tmp_path: Path):
    processes = impostor(tmp_path, 'control.send(b"!"); control.recv(1); control.shutdown(2); time.sleep(60)')
    began = time.monotonic()
    with pytest.raises(ProcessesLost):
        await bash(processes, "true")
    await processes.close()
    assert time.monotonic() - began < 20


@story
async def test_a_supervisor_that_does_not_answer_does_not_hold_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("coderelay.workspace.processes.command_supervisor_handle.LEAVING_MAY_TAKE", 0.1)
    processes = impostor(tmp_path, f'open("{tmp_path}/pid", "w").write(f"{{os.getpid()}} "); time.sleep(60)')
    running = asyncio.ensure_future(bash(processes, "true"))
    await eventually(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith(" "))
    running.cancel()
    async with asyncio.timeout(PATIENCE):
        await processes.close()
    assert not is_alive(pid_in(tmp_path / "pid"))


@linux
@story
async def test_a_command_that_stops_its_subreaper_is_lost_and_leaves_nothing(tmp_path: Path):
    async with commands() as processes:
        stop = "until [ -s daemon ]; do sleep 0.01; done; kill -STOP $PPID; sleep 90"
        with pytest.raises(ProcessesLost):
            await bash(processes, FAMILY.replace("wait", stop), tmp_path)
        pids = {name: pid_in(tmp_path / name) for name in (*MEMBERS, "subreaper")}
        assert all(pids.values())
        await eventually(lambda: not living(pids, (*MEMBERS, "subreaper")))
        assert (await bash(processes, "echo next")).output == "next\n"


@story
async def test_long_arguments_and_a_large_environment_arrive_whole():
    env = ENV | {f"NAME_{i}": "v" * 1000 for i in range(500)}
    argv = ["bash", "-c", 'printf "%s" "$1" | wc -c; env | grep -c ^NAME_', "bash", "字" * 40_000]
    async with commands() as processes:
        finished = await processes.run(argv, cwd="/", env=env, seconds=60)
    assert finished.output.split() == ["120000", "500"]


def test_much_output_is_cut_in_the_middle_and_never_held():
    tracemalloc.start()
    finished = run("echo START; head -c 50000000 /dev/zero | tr '\\0' x; echo END", output_bytes=10_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (finished.output[:9], finished.output[-7:]) == ("START\nxxx", "xxxEND\n")
    assert finished.omitted_bytes == 50_000_000 + len("START\nEND\n") - 10_000
    assert peak < 2_000_000


@pytest.mark.parametrize(
    "flood", ["head -c 3000000 /dev/zero", "head -c 90000 /dev/zero", "head -c 3000000 /dev/zero | tr '\\0' '\\377'"]
)
def test_a_flood_of_control_bytes_was_stored_at_six_times_the_limit(flood: str):
    limit = 100_000
    finished = run(f"echo START; {flood}; echo END", output_bytes=limit)
    assert len(msgspec.json.encode(finished.output)) <= limit + 100
    assert (finished.output[:6], finished.output[-4:]) == ("START\n", "END\n")
    shown = finished.output.replace(f"\n[{finished.omitted_bytes} bytes left out]\n", "")
    assert len(shown) + finished.omitted_bytes == (3_000_000 if "3000000" in flood else 90_000) + len("START\nEND\n")


@linux
@story
async def test_what_was_written_last_is_read_although_the_command_ended(tmp_path: Path):
    program = "import fcntl; fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20); print('x' * 900_000)"
    script = f'echo $$ > leader; exec {sys.executable} -c "{program}"'
    async with commands() as processes:
        task = asyncio.create_task(bash(processes, script, tmp_path))
        await eventually(lambda: pid_in(tmp_path / "leader") > 0)
        while is_alive(pid_in(tmp_path / "leader")):
            pass  # nor does the event loop read meanwhile
        assert len((await task).output) == 900_001


@pytest.mark.parametrize("output_bytes", range(14))
def test_a_cut_splits_no_character(tmp_path: Path, output_bytes: int):
    text = "é字🙂aé字🙂"
    (tmp_path / "text").write_text(text, encoding="utf-8")
    finished = run("cat text", tmp_path, output_bytes=output_bytes)
    head, _, tail = finished.output.partition(f"\n[{finished.omitted_bytes} bytes left out]\n")
    assert text == head + text[len(head) : len(text) - len(tail)] + tail
    assert len((head + tail).encode()) == len(text.encode()) - finished.omitted_bytes <= output_bytes


def test_output_that_is_not_text_is_shown_replaced():
    assert run(r"printf 'a\xff\xc3b\xe5\xad'").output == "a��b�"


SEEN = """
PATH=/bin HOME=/home/ada@example.org LC_ALL=C.UTF-8 XDG_CONFIG_HOME=/home/ada/.config XDG_RUNTIME_DIR=/run/user/1000
VIRTUAL_ENV=/venv SSL_CERT_FILE=/etc/ca.pem https_proxy=http://proxy.local:3128 NO_PROXY=localhost,.local
"""
HIDDEN = """
HTTPS_PROXY=http://ada:secret@proxy.local:3128 HTTP_PROXY=ada:secret@proxy.local:3128 ALL_PROXY=socks5://token@proxy
ANTHROPIC_API_KEY=sk-1 CODER_TOKEN=t CODER_DATABASE_URL=postgresql://ada:secret@db/coder AWS_SECRET_ACCESS_KEY=s
GOOGLE_APPLICATION_CREDENTIALS=/c.json PGPASSWORD=p SSH_AUTH_SOCK=/tmp/agent XDG_SECRET_DIR=/s LC_API_KEY=sk-1
LC_token=t TMPDIR=https://ada:secret@host PWD=/work CI=1 LD_PRELOAD=/evil.so SOMETHING_NEW=x XDG_SESSION_ID=1 PATHS=/
"""
ADDED = {
    "GIT_TERMINAL_PROMPT": "0", "PAGER": "cat", "GIT_PAGER": "cat", "CODER": "1",
    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.bareRepository", "GIT_CONFIG_VALUE_0": "explicit",
}  # fmt: skip


@pytest.mark.parametrize("line", (SEEN + HIDDEN).split())
def test_what_a_command_sees_of_our_environment(line: str):
    name, _, value = line.partition("=")
    assert command_environment({name: value, "PAGER": "less"}) == ADDED | ({name: value} if line in SEEN else {})
