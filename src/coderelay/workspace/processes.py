"""Runs commands so that none outlives its owner, even one that is killed in mid-command.

The commands are children of a small process of ours, never of the owner: see `supervisor.py`,
which also says what is spoken on the two kinds of socket.
"""

from __future__ import annotations

import asyncio
import codecs
import marshal
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from errno import EINVAL, ENOEXEC
from pathlib import Path
from typing import Literal

import msgspec

from coderelay.workspace.own_environment import blank_own_environment

SUPERVISOR = Path(__file__).with_name("supervisor.py")
TERM_GRACE = 0.5
KILL_GRACE = 5.0
READ_BYTES = 1 << 16
PIPE_BYTES = 1 << 20
CONTINUATION_BYTES = bytes(range(0x80, 0xC0))


class Finished(msgspec.Struct, frozen=True):
    """A command that ended: by itself with an exit code, or by a signal.

    `output` is what it wrote to standard output and error, in the order written. When `omitted_bytes`
    is not 0, a line in the middle of it says so.
    """

    exit_code: int | None
    signal: int | None
    output: str
    omitted_bytes: int
    timed_out: bool
    seconds: float


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


Wrap = Callable[[list[str]], list[str]]
"""The command that starts the supervisor in a sandbox, made from the one that starts it here."""


class Processes:
    """The commands of one owner, used from one event loop. The first one starts the supervisor."""

    def __init__(self, *, supervisor_python: str = sys.executable, wrap: Wrap | None = None) -> None:
        self._python = supervisor_python
        self._wrap = wrap
        self._supervisor: _Supervisor | None = None
        self._running: set[_Command] = set()
        self._closed = False

    @property
    def is_idle(self) -> bool:
        return not self._running

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        seconds: float,
        output_bytes: int = 1 << 20,
    ) -> Finished:
        """Run a command to its end, or end it after `seconds` or when this task is cancelled.

        When this returns or raises, no process of the command is left, whatever it did to
        escape; except one that became another user, which we may not kill.
        """
        running = await self.start(argv, cwd=cwd, env=env, output_bytes=output_bytes)
        try:
            timed_out = not await running.wait(seconds)
        finally:
            await running.stop()
        return running.finished(timed_out=timed_out)

    async def start(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], output_bytes: int = 1 << 20
    ) -> Running:
        """A command that runs until it ends, is stopped, or this is closed. Whether it could begin at all is known
        when it is over."""
        request = _request(argv, cwd, env)
        command = _Command(output_bytes)
        try:
            supervisor = await self._hand_over(command, argv[0])
        except BaseException:
            command.release()
            raise
        command.over.add_done_callback(lambda _: self._running.discard(command))
        running = Running(command, supervisor, argv[0], cwd, lambda: self._closed)
        try:
            await command.send(request)
        except BaseException:
            await running.stop()
            raise
        return running

    async def close(self) -> None:
        """End every command and the supervisor. A command still awaited raises ProcessesLost."""
        self._closed = True
        self._abandon_running()
        if self._running:
            await asyncio.wait([command.over for command in self._running], timeout=KILL_GRACE)
        if self._supervisor is not None:
            await self._supervisor.close()

    async def _hand_over(self, command: _Command, program: str) -> _Supervisor:
        while not self._closed:
            if self._supervisor is None or not self._supervisor.is_alive():
                self._supervisor = _Supervisor(self._python, self._wrap, when_gone=self._abandon_running)
            try:
                self._supervisor.take(command)
                self._running.add(command)
                return self._supervisor
            except BlockingIOError:  # it is still forking for those before us
                await asyncio.sleep(0.001)
        raise ProcessesLost(program=program, closed=True)

    def _abandon_running(self) -> None:
        for command in self._running:
            command.abandon()


class Running:
    """A command that was started, and may be over by now."""

    def __init__(
        self, command: _Command, supervisor: _Supervisor, program: str, cwd: str, is_closed: Callable[[], bool]
    ) -> None:
        self._command = command
        self._supervisor = supervisor
        self._program = program
        self._cwd = cwd
        self._is_closed = is_closed

    @property
    def is_over(self) -> bool:
        return self._command.over.done()

    @property
    def seconds(self) -> float:
        return (self._command.ended or time.monotonic()) - self._command.began

    async def wait(self, seconds: float | None = None) -> bool:
        """False if it is not over in that time."""
        await asyncio.wait([self._command.over], timeout=seconds)
        return self.is_over

    async def stop(self) -> None:
        """When this returns or raises, it is over, and no process of it is left."""
        await _uninterrupted(self._command.stop())
        if not self.is_over:
            self._supervisor.end_sandbox()

    def take_output(self) -> str:
        """What it has written since this was last asked."""
        self._command.drain()
        taken, self._command.output = self._command.output, self._command.output.emptied()
        return taken.text()[0]

    def finished(self, *, timed_out: bool = False) -> Finished:
        """How it ended, with what was not taken of its output. Raises CannotStart and ProcessesLost."""
        match self._command.reply:
            case ("ended", code):
                exit_code, ended_by = (code, None) if code >= 0 else (None, -code)
                output, omitted = self._command.output.text()
                return Finished(exit_code, ended_by, output, omitted, timed_out, self.seconds)
            case ("folder" | "program" | "process" as what, errno):
                raise CannotStart(program=self._program, cwd=self._cwd, what=what, errno=errno)
            case _:
                if not self._is_closed():
                    self._supervisor.check_it_began(self._program)
                raise ProcessesLost(program=self._program, closed=self._is_closed())


def _request(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> bytes:
    try:
        encoded = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        body = marshal.dumps(([os.fsencode(argument) for argument in argv], os.fsencode(cwd), encoded))
    except UnicodeEncodeError as error:  # half of a surrogate pair, as a model may write it
        raise CannotStart(program=argv[0], cwd=cwd, what="program", errno=EINVAL) from error
    return len(body).to_bytes(4, "big") + body


class _Supervisor:
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

    def take(self, command: _Command) -> None:
        with suppress(ConnectionError):  # it died just now, and the command's socket ends with it
            socket.send_fds(self._control, [b"+"], command.lent())
        command.close_lent()

    async def close(self) -> None:
        if not self._gone.is_set():
            self._control.shutdown(socket.SHUT_WR)
            await self._gone.wait()

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

    def end_sandbox(self) -> None:
        """With everything in it: one of its commands outlived even SIGKILL."""
        if self._is_wrapped and not self._gone.is_set():
            self._process.kill()

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
        """Its socket closed with it, so it is exiting, and waiting for it is short."""
        self._loop.remove_reader(self._control)
        with suppress(OSError):  # nothing was said
            self._is_ready = self._is_ready or self._control.recv(1) != b""
        self._control.close()
        self._process.wait()
        if self._process.stderr is not None:
            with self._process.stderr as words:
                os.set_blocking(words.fileno(), False)  # what it left running may hold the other end
                self._last_words = (words.read(READ_BYTES) or b"").decode(errors="replace").strip()
        self._gone.set()
        self._when_gone()


def _start_supervisor(python: str, wrap: Wrap | None) -> tuple[subprocess.Popen[bytes], socket.socket]:
    # Commands can read the environment of their parents in /proc, so no key of ours is in it.
    blank_own_environment()
    env = {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}
    argv = [python, "-I", "-S", str(SUPERVISOR)]
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


class _Command:
    """Our end of one command: the socket of its keeper, and the pipe of its output."""

    def __init__(self, output_bytes: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket, self._keeper_socket = socket.socketpair()
        self._pipe, self._pipe_writer = os.pipe()
        self._socket.setblocking(False)
        os.set_blocking(self._pipe, False)
        self._requested = False
        self._released = False
        self.began = time.monotonic()
        self.ended: float | None = None
        self._received = bytearray()
        self.output = _Output(output_bytes)
        self.reply: tuple[str, int] | None = None  # and still when over, if the keeper went without one
        self.over: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(self._socket, self._read_reply)
        self._loop.add_reader(self._pipe, self._read_output)

    async def send(self, request: bytes) -> None:
        with suppress(ConnectionError):  # the keeper is gone; its socket tells
            await self._loop.sock_sendall(self._socket, request)
        self._requested = True
        if self.over.done():
            self.release()

    async def stop(self) -> None:
        for number, grace in ((signal.SIGTERM, TERM_GRACE), (signal.SIGKILL, KILL_GRACE)):
            if not self.over.done():
                self._signal(number)
                await asyncio.wait([self.over], timeout=grace)
        self._end()
        self.release()

    def _signal(self, number: int) -> None:
        if not self._requested:
            self.abandon()  # a signal would be taken for a part of the request
        else:
            with suppress(ConnectionError):
                self._socket.send(bytes([number]))

    def abandon(self) -> None:
        """The keeper kills everything and goes without a reply."""
        with suppress(OSError):  # it is gone already
            self._socket.shutdown(socket.SHUT_WR)

    def _read_reply(self) -> None:
        received = b""
        with suppress(ConnectionError):
            received = self._socket.recv(READ_BYTES)
        self._received += received
        if not received:
            self._loop.remove_reader(self._socket)
            self.reply = marshal.loads(self._received) if self._received else None
            self._end()

    def _end(self) -> None:
        if self.over.done():
            return
        self.drain()
        if self._requested:  # else it is being written to still
            self.release()
        self.ended = time.monotonic()
        self.over.set_result(None)

    def _read_output(self) -> int:
        try:
            chunk = os.read(self._pipe, READ_BYTES)
        except BlockingIOError:
            return 0
        self.output.add(chunk)
        if not chunk:
            self._loop.remove_reader(self._pipe)
        return len(chunk)

    def drain(self) -> None:
        """The pipe holds what was written so far. When everything that could write is dead, that is all there is.

        Bounded by what a pipe can hold: somebody may go on writing.
        """
        left = 0 if self._released else PIPE_BYTES
        while left > 0 and (size := self._read_output()):
            left -= size

    def lent(self) -> list[int]:
        return [self._keeper_socket.fileno(), self._pipe_writer]

    def close_lent(self) -> None:
        """While ours are open, neither the socket nor the pipe ends."""
        self._keeper_socket.close()
        if self._pipe_writer >= 0:
            os.close(self._pipe_writer)
            self._pipe_writer = -1

    def release(self) -> None:
        if self._released:
            return
        self._released = True
        self.close_lent()
        self._loop.remove_reader(self._socket)
        self._loop.remove_reader(self._pipe)
        self._socket.close()
        os.close(self._pipe)


async def _uninterrupted(work: Coroutine[None, None, None]) -> None:
    """Await `work` to its end, however often we are cancelled meanwhile; then let the cancellation go on."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled


class _Output:
    """The beginning and the end of what was written, half of `limit` each; the rest is only counted."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head_size, self._tail_size = limit - limit // 2, limit // 2
        self._head, self._tail = bytearray(), bytearray()
        self._next = 0  # in the tail, which is a ring
        self._written = 0

    def add(self, chunk: bytes) -> None:
        self._written += len(chunk)
        room = self._head_size - len(self._head)
        self._head += chunk[:room]
        if len(chunk) > room and self._tail_size:
            self._add_to_tail(chunk[room:][-self._tail_size :])

    def emptied(self) -> _Output:
        return _Output(self._limit)

    def _add_to_tail(self, chunk: bytes) -> None:
        at, room = self._next, self._tail_size - self._next
        first, rest = chunk[:room], chunk[room:]
        self._tail[at : at + len(first)] = first
        self._tail[: len(rest)] = rest
        self._next = (at + len(chunk)) % self._tail_size

    def text(self) -> tuple[str, int]:
        """The text, and how many bytes are not in it. No character is cut in two."""
        tail = self._tail[self._next :] + self._tail[: self._next]
        omitted = self._written - len(self._head) - len(tail)
        if not omitted:
            return (self._head + tail).decode(errors="replace"), 0
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        beginning = decoder.decode(self._head)
        split = len(tail[:3]) - len(tail[:3].lstrip(CONTINUATION_BYTES))
        omitted += len(decoder.getstate()[0]) + split
        return f"{beginning}\n[{omitted} bytes left out]\n{tail[split:].decode(errors='replace')}", omitted
