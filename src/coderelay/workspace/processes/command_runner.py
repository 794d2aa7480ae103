"""Runs commands so that none outlives the process that owns it, even if the owner is killed during a command.

Commands are children of a small supervisor process, never of the owner. `command_supervisor_script.py` describes the
supervisor, the subreaper process that it forks for each command, and the protocol on the two kinds of socket.
"""

from __future__ import annotations

import asyncio
import marshal
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from errno import EINVAL

from msgspec import Struct

from coderelay.workspace.processes.command_output import Output
from coderelay.workspace.processes.command_result_and_errors import CannotStart, FinishedCommand, ProcessesLost
from coderelay.workspace.processes.command_supervisor_handle import SupervisorHandle, Wrap
from coderelay.workspace.processes.disk_space_watch import DiskSpaceWatch
from coderelay.workspace.processes.orphans import end_command, end_orphans, new_mark

TERM_GRACE = 0.5
KILL_GRACE = 5.0
READ_BYTES = 1 << 16
PIPE_BYTES = 1 << 20
REPLY_BYTES = 64
REPLY = rb"(ended|folder|program|process) (-?[0-9]{1,3})\n"


OnOutput = Callable[[bytes], None]
"""Called with each chunk that a command writes, and with empty bytes when its output ends."""


class Processes:
    """Runs the commands of one owner, from one event loop. The first command starts the supervisor."""

    def __init__(self, *, supervisor_python: str = sys.executable, wrap: Wrap | None = None) -> None:
        self._python = supervisor_python
        self._wrap = wrap
        self._supervisor: SupervisorHandle | None = None
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
        seconds: float | None,
        output_bytes: int = 1 << 20,
        separate_stderr: bool = False,
        on_output: OnOutput | None = None,
        writable_folders: Sequence[str] = (),
        free_bytes: int = 0,
    ) -> FinishedCommand:
        """Run a command to its end, or end it after `seconds` or when this task is cancelled. With `separate_stderr`,
        standard error is collected separately. `on_output` is called with all output as it arrives. The command is
        also ended when less than `free_bytes` is left on the disk of one of the folders that it may write to
        (`writable_folders`).

        When this returns or raises, no process of the command is left, whatever it did to escape; except one that
        became another user, which we may not kill.
        """
        running = await self.start(
            argv,
            cwd=cwd,
            env=env,
            output_bytes=output_bytes,
            separate_stderr=separate_stderr,
            on_output=on_output,
            writable_folders=writable_folders,
            free_bytes=free_bytes,
        )
        try:
            timed_out = not await running.wait(seconds)
        finally:
            await running.stop()
        return running.finished(timed_out=timed_out)

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        output_bytes: int = 1 << 20,
        separate_stderr: bool = False,
        on_output: OnOutput | None = None,
        writable_folders: Sequence[str] = (),
        free_bytes: int = 0,
    ) -> RunningCommand:
        """Start a command that runs until it ends, is stopped, or this object is closed. Whether the program could be
        started at all is known only when the command is over."""
        mark = new_mark()
        request = _request(argv, cwd, {**env, **mark})
        command = _Command(output_bytes, separate_stderr, on_output)
        try:
            supervisor = await self._hand_over(command, argv[0])
        except BaseException:
            command.release()
            raise
        command.over.add_done_callback(lambda _: self._running.discard(command))
        if free_bytes:
            command.watch_disk_space(writable_folders, free_bytes)
        running = RunningCommand(command, supervisor, argv[0], cwd, mark, lambda: self._closed)
        try:
            await command.send(request)
        except BaseException:
            await running.stop()
            raise
        return running

    async def close(self) -> None:
        """End every command and the supervisor. Whoever still awaits a command gets ProcessesLost."""
        self._closed = True
        self._abandon_running()
        if self._running:
            await asyncio.wait([command.over for command in self._running], timeout=KILL_GRACE)
        if self._supervisor is not None:
            await self._supervisor.close()

    async def _hand_over(self, command: _Command, program: str) -> SupervisorHandle:
        while not self._closed:
            if self._supervisor is None:
                asyncio.get_running_loop().run_in_executor(None, end_orphans)  # while the supervisor starts
            if self._supervisor is None or not self._supervisor.is_alive():
                self._supervisor = SupervisorHandle(self._python, self._wrap, when_gone=self._abandon_running)
            try:
                self._supervisor.take(command)
                self._running.add(command)
                return self._supervisor
            except BlockingIOError:  # the supervisor is still busy with earlier commands
                await asyncio.sleep(0.001)
        raise ProcessesLost(program=program, closed=True)

    def _abandon_running(self) -> None:
        for command in self._running:
            command.abandon()


class RunningCommand:
    """A command that was started, and may have ended by now."""

    def __init__(
        self,
        command: _Command,
        supervisor: SupervisorHandle,
        program: str,
        cwd: str,
        mark: Mapping[str, str],
        is_closed: Callable[[], bool],
    ) -> None:
        self._command = command
        self._supervisor = supervisor
        self._program = program
        self._cwd = cwd
        self._mark = mark
        self._told_why = False
        self._is_closed = is_closed

    @property
    def is_over(self) -> bool:
        return self._command.over.done()

    @property
    def seconds(self) -> float:
        return (self._command.ended or time.monotonic()) - self._command.began

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the command. False if it is not over in that time."""
        await asyncio.wait([self._command.over], timeout=seconds)
        return self.is_over

    async def stop(self) -> None:
        """End the command. When this returns or raises, no process of it is left."""
        await _uninterrupted(self._stop())

    async def _stop(self) -> None:
        if not await self._command.stop():
            await self._supervisor.end_sandbox()
        if self._command.reply is None and not self._is_closed():  # its subreaper was killed
            await asyncio.to_thread(end_command, self._mark)

    def take_output(self) -> str:
        """The output since the last call. If we ended the command, the reason is added once."""
        self._command.drain()
        text, why = self._command.output.take().text()[0], self._command.ended_because
        if not why or self._told_why:
            return text
        self._told_why = True
        return f"{text}\n[{why}]\n"

    def finished(self, *, timed_out: bool = False) -> FinishedCommand:
        """How the command ended, with the output not yet taken. Raises CannotStart and ProcessesLost."""
        match self._command.reply:
            case ("ended", code):
                exit_code, ended_by = (code, None) if code >= 0 else (None, -code)
                output, omitted = self._command.output.written.text()
                errors, more = self._command.errors.written.text() if self._command.errors is not None else ("", 0)
                why = self._command.ended_because
                return FinishedCommand(
                    exit_code, ended_by, output, omitted + more, timed_out, self.seconds, errors, why
                )
            case ("folder" | "program" | "process" as what, errno):
                raise CannotStart(program=self._program, cwd=self._cwd, what=what, errno=errno)
            case _:
                if not self._is_closed():
                    end_command(self._mark)
                    self._supervisor.check_it_began(self._program)
                raise ProcessesLost(program=self._program, closed=self._is_closed())


def _request(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> bytes:
    try:
        encoded = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        body = marshal.dumps(([os.fsencode(argument) for argument in argv], os.fsencode(cwd), encoded))
    except UnicodeEncodeError as error:  # half of a surrogate pair, which a model may write
        raise CannotStart(program=argv[0], cwd=cwd, what="program", errno=EINVAL) from error
    return len(body).to_bytes(4, "big") + body


class _Command:
    """The owner's end of one command: the socket to its subreaper, and the pipe of its output. With
    `separate_stderr`, a second pipe takes standard error."""

    def __init__(self, output_bytes: int, separate_stderr: bool, on_output: OnOutput | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket, self._subreaper_socket = socket.socketpair()
        self._socket.setblocking(False)
        self._requested = False
        self._released = False
        self.began = time.monotonic()
        self.ended: float | None = None
        self._received = bytearray()
        self.output = _Pipe(self._loop, output_bytes, on_output)
        self.errors = _Pipe(self._loop, output_bytes, on_output) if separate_stderr else None
        self._pipes = [self.output] if self.errors is None else [self.output, self.errors]
        self.ended_because = ""
        self.reply: tuple[str, int] | None = None  # stays None if the subreaper ended without a reply
        self.over: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(self._socket, self._read_reply)

    async def send(self, request: bytes) -> None:
        with suppress(ConnectionError):  # the subreaper has ended; reading its socket reports that
            await self._loop.sock_sendall(self._socket, request)
        self._requested = True
        if self.over.done():
            self.release()

    async def stop(self) -> bool:
        """Send SIGTERM, then SIGKILL. False if the subreaper has neither reported the command's end nor ended
        itself."""
        for number, grace in ((signal.SIGTERM, TERM_GRACE), (signal.SIGKILL, KILL_GRACE)):
            if not self.over.done():
                self._signal(number)
                await asyncio.wait([self.over], timeout=grace)
        is_over = self.over.done()
        self._end()
        self.release()
        return is_over

    def _signal(self, number: int) -> None:
        if not self._requested:
            self.abandon()  # a signal would be read as part of the request
        else:
            with suppress(ConnectionError):
                self._socket.send(bytes([number]))

    def watch_disk_space(self, written: Sequence[str], free_bytes: int) -> None:
        watch = DiskSpaceWatch(written, free_bytes, self._end_because)
        self.over.add_done_callback(lambda _: watch.close())

    def _end_because(self, why: str) -> None:
        self.ended_because = why
        self._signal(signal.SIGKILL)

    def abandon(self) -> None:
        """Close our side of the socket: the subreaper kills everything and ends without a reply."""
        with suppress(OSError):  # the subreaper has ended already
            self._socket.shutdown(socket.SHUT_WR)

    def _read_reply(self) -> None:
        """A reply counts only in the exact form that a subreaper writes: a command may have got hold of the
        socket."""
        received = b""
        with suppress(ConnectionError):
            received = self._socket.recv(REPLY_BYTES)
        self._received += received
        if not received or len(self._received) > REPLY_BYTES:
            self._loop.remove_reader(self._socket)
            if said := re.fullmatch(REPLY, self._received):
                self.reply = said[1].decode(), int(said[2])
            self._end()

    def _end(self) -> None:
        if self.over.done():
            return
        self.drain()
        if self._requested:  # otherwise `send` is still writing to the socket
            self.release()
        self.ended = time.monotonic()
        self.over.set_result(None)

    def drain(self) -> None:
        for pipe in () if self._released else self._pipes:
            pipe.drain()

    def descriptors_to_pass(self) -> list[int]:
        return [self._subreaper_socket.fileno(), *(pipe.writer for pipe in self._pipes)]

    def close_lent(self) -> None:
        """Close our copies of the subreaper's descriptors: while they are open, neither the socket nor a pipe
        ends."""
        self._subreaper_socket.close()
        for pipe in self._pipes:
            pipe.close_writer()

    def release(self) -> None:
        if self._released:
            return
        self._released = True
        self.close_lent()
        self._loop.remove_reader(self._socket)
        self._socket.close()
        for pipe in self._pipes:
            pipe.close()


class _Pipe:
    """A pipe that a command writes to, and the output collected from it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, output_bytes: int, on_output: OnOutput | None) -> None:
        self._loop = loop
        self._reader, self.writer = os.pipe()
        self._on_output = on_output
        self.written = Output(output_bytes)
        os.set_blocking(self._reader, False)
        loop.add_reader(self._reader, self._read)

    def _read(self) -> int:
        try:
            chunk = os.read(self._reader, READ_BYTES)
        except BlockingIOError:
            return 0
        self.written.add(chunk)
        if self._on_output is not None:
            self._on_output(chunk)
        if not chunk:
            self._loop.remove_reader(self._reader)
        return len(chunk)

    def take(self) -> Output:
        """The output since the last call."""
        taken, self.written = self.written, self.written.emptied()
        return taken

    def drain(self) -> None:
        """Read what the pipe holds. When every process that could write is dead, that is all the output there is.

        Bounded by the capacity of a pipe, because somebody may go on writing.
        """
        left = PIPE_BYTES
        while left > 0 and (size := self._read()):
            left -= size

    def close_writer(self) -> None:
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def close(self) -> None:
        self._loop.remove_reader(self._reader)
        os.close(self._reader)


async def _uninterrupted(work: Coroutine[None, None, None]) -> None:
    """Await `work` to its end, however often we are cancelled meanwhile; then raise the cancellation."""
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


class LaunchContext(Struct, frozen=True):
    """`environment` holds the variables of the command, `temporary` is the real path of its temporary files."""

    processes: Processes
    environment: Mapping[str, str]
    temporary: str
