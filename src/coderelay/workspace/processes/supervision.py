"""Our end of a supervisor: see `supervisor.py`, which also says what is spoken on the two kinds of socket."""

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
"""The command that starts the supervisor in a sandbox, made from the one that starts it here."""
_FIRST_AND_END = slice(47, 49)  # of the fields behind the name in /proc/self/stat


class Lending(Protocol):
    """Whoever has descriptors for a keeper."""

    def lent(self) -> list[int]: ...

    def close_lent(self) -> None: ...


class SupervisorHandle:
    """Our end of the supervisor process. It says once that it is ready; the end of its socket is its end."""

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

    def take(self, command: Lending) -> None:
        with suppress(ConnectionError):  # it died just now, and the command's socket ends with it
            socket.send_fds(self._control, [b"+"], command.lent())
        command.close_lent()

    async def close(self) -> None:
        if not self._gone.is_set():
            with suppress(OSError):  # it ends already
                self._control.shutdown(socket.SHUT_WR)
            await self._wait_until_gone(LEAVING_MAY_TAKE)

    def check_it_began(self, program: str) -> None:
        """After a command that ended without a reply. Raises CannotStart if this never took any."""
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
        """With everything in it: one of its commands outlived even SIGKILL, or whoever keeps it does not answer."""
        if self._is_wrapped and not self._gone.is_set():
            self._process.kill()
            await self._wait_until_gone(KILLING_MAY_TAKE)

    async def _wait_until_gone(self, seconds: float) -> None:
        """Or let go of it: somebody may have stopped it, or hold its socket."""
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
            pass  # it died before it read all we sent
        if said:
            self._is_ready = True
        else:
            self._bury()

    def _bury(self) -> None:
        """Its socket closed with it, so it is exiting; unless a command closed that, so it is killed all the same."""
        self._loop.remove_reader(self._control)
        with suppress(OSError):  # nothing was said
            self._is_ready = self._is_ready or self._control.recv(1) != b""
        self._control.close()
        self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            with self._process.stderr as words:
                os.set_blocking(words.fileno(), False)  # what it left running may hold the other end
                self._last_words = (words.read(_LAST_WORDS) or b"").decode(errors="replace").strip()
        self._gone.set()
        self._when_gone()


def _start_supervisor(python: str, wrap: Wrap | None) -> tuple[subprocess.Popen[bytes], socket.socket]:
    # Commands can read the environment of their parents in /proc, so no key of ours is in it.
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

    `output` is what it wrote to standard output and error, in the order written; or to standard output alone, if
    its `errors` were wanted apart. When `omitted_bytes` is not 0, a line in the middle of it says so.
    `ended_because` is why we ended it, for another reason than time.
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
    """The command did not begin: nothing of it ran. Of a sandbox that does not start, `detail` says why."""

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
    """The command may have run; how it ended is not known, because its supervisor ended or was closed."""

    def __init__(self, *, program: str, closed: bool) -> None:
        super().__init__(f"{program}: its supervisor {'was closed' if closed else 'ended'}")
        self.program = program
        self.closed = closed


def blank_own_environment() -> None:
    """Nothing happens where there is no /proc."""
    with suppress(OSError, ValueError):
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        first, end = map(int, fields[_FIRST_AND_END])
        if end > first > 0:
            _blank(first, end - first)


def _blank(first: int, size: int) -> None:
    import ctypes  # takes milliseconds, and only who starts commands needs it

    at = first
    for entry in ctypes.string_at(first, size).split(b"\0"):
        name, is_set, value = entry.partition(b"=")
        if is_set and not may_be_seen(os.fsdecode(name), os.fsdecode(value)):
            if name in os.environb:
                os.putenv(name, os.environb[name])  # in another place, for libraries and children of ours
            ctypes.memset(at + len(name) + 1, 0, len(value))
        at += len(entry) + 1
