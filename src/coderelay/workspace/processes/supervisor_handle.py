"""Starts, talks to and ends a supervisor process, from the owner's side. `supervisor.py` describes the protocol."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from errno import EINVAL, ENOEXEC
from typing import Literal, Protocol

import msgspec

from coderelay.workspace.processes.environment import may_be_seen

SUPERVISOR = os.path.join(os.path.dirname(__file__), "supervisor.py")
_LAST_WORDS = 1 << 16
LEAVING_MAY_TAKE = 5.0
KILLING_MAY_TAKE = 1.0
Wrap = Callable[[list[str]], list[str]]
"""Turns the command line of the supervisor into one that starts it in a sandbox."""
_FIRST_AND_END = slice(47, 49)  # env_start and env_end, among the fields after the name in /proc/self/stat


class LentDescriptors(Protocol):
    """A command whose file descriptors are passed to its keeper."""

    def lent(self) -> list[int]: ...

    def close_lent(self) -> None: ...


class SupervisorHandle:
    """The owner's handle of a supervisor process. The supervisor reports once that it is ready. When its socket ends,
    it counts as ended."""

    def __init__(self, python: str, wrap: Wrap | None, *, when_gone: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._when_gone = when_gone
        self._is_wrapped = wrap is not None
        self._process, self._control = _start_supervisor(python, wrap)
        self._control.setblocking(False)
        self._is_ready = False
        self._last_words = ""
        self._gone = asyncio.Event()
        self._loop.add_reader(self._control, self._hear)

    def is_alive(self) -> bool:
        if not self._gone.is_set() and self._process.poll() is not None:
            self._bury()
        return not self._gone.is_set()

    def take(self, command: LentDescriptors) -> None:
        with suppress(ConnectionError):  # it has just died, and the command's socket ends with it
            socket.send_fds(self._control, [b"+"], command.lent())
        command.close_lent()

    async def close(self) -> None:
        if not self._gone.is_set():
            with suppress(OSError):  # it is ending already
                self._control.shutdown(socket.SHUT_WR)
            await self._wait_until_gone(LEAVING_MAY_TAKE)

    def check_it_began(self, program: str) -> None:
        """Call this after a command ended without a reply. Raises CannotStart if the supervisor was never ready."""
        if not self._gone.is_set():
            self._hear()
        if self._is_ready:
            return
        self._process.kill()
        if not self._gone.is_set():
            self._bury()
        if self._is_wrapped:
            detail = self._last_words or "it does not start"
            raise CannotStart(program="the sandbox", cwd="/", what="sandbox", errno=ENOEXEC, detail=detail)
        raise CannotStart(program=program, cwd="/", what="process", errno=ENOEXEC)

    async def end_sandbox(self) -> None:
        """Kill the sandbox with everything in it: a command outlived even SIGKILL, or its keeper does not answer."""
        if self._is_wrapped and not self._gone.is_set():
            self._process.kill()
            await self._wait_until_gone(KILLING_MAY_TAKE)

    async def _wait_until_gone(self, seconds: float) -> None:
        """Wait, then give up on the supervisor: it may have been stopped, or another process may hold its socket."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._gone.wait()
        if not self._gone.is_set():
            self._bury()

    def _hear(self) -> None:
        said = b""
        try:
            said = self._control.recv(1)
        except BlockingIOError:
            return
        except ConnectionError:
            pass  # it died before it had read everything we sent
        if said:
            self._is_ready = True
        else:
            self._bury()

    def _bury(self) -> None:
        """Clean up after the supervisor. Its socket closed, so it is exiting; it is killed all the same, because a
        command may have closed the socket."""
        self._loop.remove_reader(self._control)
        with suppress(OSError):  # nothing was received
            self._is_ready = self._is_ready or self._control.recv(1) != b""
        self._control.close()
        self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            with self._process.stderr as words:
                os.set_blocking(words.fileno(), False)  # a process that it left running may hold the other end
                self._last_words = (words.read(_LAST_WORDS) or b"").decode(errors="replace").strip()
        self._gone.set()
        self._when_gone()


def _start_supervisor(python: str, wrap: Wrap | None) -> tuple[subprocess.Popen[bytes], socket.socket]:
    # Commands can read the environment of their parent processes in /proc, so it must not contain any secret of ours.
    blank_own_environment()
    env = {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}
    argv = [python, "-I", "-S", SUPERVISOR]
    argv, words = (argv, subprocess.DEVNULL) if wrap is None else (wrap(argv), subprocess.PIPE)
    control, theirs = socket.socketpair()
    with theirs:
        end, null = theirs.fileno(), subprocess.DEVNULL
        try:
            process = subprocess.Popen(
                argv, stdin=end, stdout=null, stderr=words, start_new_session=True, cwd="/", env=env
            )
        except OSError as error:
            control.close()
            what = "process" if wrap is None else "sandbox"
            raise CannotStart(program=argv[0], cwd="/", what=what, errno=error.errno or EINVAL) from error
    return process, control


class FinishedCommand(msgspec.Struct, frozen=True):
    """A command that ended: by itself with an exit code, or by a signal.

    `output` is standard output and error in the order written, or standard output alone if `errors` were collected
    separately. If `omitted_bytes` is not 0, a line in the middle of the output says so.
    `ended_because` says why we ended the command, if not because of its time limit.
    """

    exit_code: int | None
    signal: int | None
    output: str
    omitted_bytes: int
    timed_out: bool
    seconds: float
    errors: str = ""
    ended_because: str = ""


class CannotStart(Exception):
    """The command did not start: nothing of it ran. If a sandbox did not start, `detail` says why."""

    def __init__(
        self,
        *,
        program: str,
        cwd: str,
        what: Literal["folder", "program", "process", "sandbox"],
        errno: int,
        detail: str = "",
    ) -> None:
        super().__init__(f"{cwd if what == 'folder' else program}: {detail or os.strerror(errno)}")
        self.program = program
        self.cwd = cwd
        self.what = what
        self.errno = errno


class ProcessesLost(Exception):
    """The command may have run. How it ended is unknown, because its supervisor ended or was closed."""

    def __init__(self, *, program: str, closed: bool) -> None:
        super().__init__(f"{program}: its supervisor {'was closed' if closed else 'ended'}")
        self.program = program
        self.closed = closed


def blank_own_environment() -> None:
    """Overwrite secrets in our environment as /proc shows it to other processes. Does nothing without /proc."""
    with suppress(OSError, ValueError):
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        first, end = map(int, fields[_FIRST_AND_END])
        if end > first > 0:
            _blank(first, end - first)


def _blank(first: int, size: int) -> None:
    import ctypes  # takes milliseconds, and is only needed to start commands

    at = first
    for entry in ctypes.string_at(first, size).split(b"\0"):
        name, is_set, value = entry.partition(b"=")
        if is_set and not may_be_seen(os.fsdecode(name), os.fsdecode(value)):
            if name in os.environb:
                os.putenv(name, os.environb[name])  # kept in other memory, for our libraries and children
            ctypes.memset(at + len(name) + 1, 0, len(value))
        at += len(entry) + 1
