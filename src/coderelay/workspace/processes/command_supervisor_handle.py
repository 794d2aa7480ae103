"""Starts, talks to and ends a supervisor process, from the owner's side. `command_supervisor_script.py` describes the
protocol."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from errno import EINVAL, ENOEXEC
from typing import Protocol

from coderelay.workspace.processes.command_result_and_errors import CannotStart
from coderelay.workspace.processes.environment import blank_own_environment

SUPERVISOR = os.path.join(os.path.dirname(__file__), "command_supervisor_script.py")
_LAST_WORDS = 1 << 16
LEAVING_MAY_TAKE = 5.0
KILLING_MAY_TAKE = 1.0
Wrap = Callable[[list[str]], list[str]]
"""Turns the command line of the supervisor into one that starts it in a sandbox."""


class DescriptorsToPass(Protocol):
    """A command whose file descriptors are passed to its subreaper."""

    def descriptors_to_pass(self) -> list[int]: ...

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
            self._clean_up_after_exit()
        return not self._gone.is_set()

    def take(self, command: DescriptorsToPass) -> None:
        with suppress(ConnectionError):  # it has just died, and the command's socket ends with it
            socket.send_fds(self._control, [b"+"], command.descriptors_to_pass())
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
            self._clean_up_after_exit()
        if self._is_wrapped:
            detail = self._last_words or "it does not start"
            raise CannotStart(program="the sandbox", cwd="/", what="sandbox", errno=ENOEXEC, detail=detail)
        raise CannotStart(program=program, cwd="/", what="process", errno=ENOEXEC)

    async def end_sandbox(self) -> None:
        """Kill the sandbox with everything in it: a command outlived even SIGKILL, or its subreaper does not
        answer."""
        if self._is_wrapped and not self._gone.is_set():
            self._process.kill()
            await self._wait_until_gone(KILLING_MAY_TAKE)

    async def _wait_until_gone(self, seconds: float) -> None:
        """Wait, then give up on the supervisor: it may have been stopped, or another process may hold its socket."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._gone.wait()
        if not self._gone.is_set():
            self._clean_up_after_exit()

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
            self._clean_up_after_exit()

    def _clean_up_after_exit(self) -> None:
        """Clean up after the supervisor. Its socket closed, so it is exiting; it is still killed, because a command
        may have closed the socket."""
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
