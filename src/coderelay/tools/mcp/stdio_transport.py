"""The stdio transport of MCP: messages to a child process and back, one on each line.

The child process ends with ours, as every command does.
"""

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from coderelay.protocol.translatable import say
from coderelay.tools.mcp.server_transport_interface import MOST_BYTES, ServerFailed
from coderelay.wire.transport import Take
from coderelay.workspace.processes.command_runner import CannotStart, Processes, ProcessesLost, RunningCommand

SHIM = Path(__file__).with_name("stdio_to_socket_script.py")
_ERROR_BYTES = 16 * 1024
_SOCKET_NAME_BYTES = 100
_LEAVING_SECONDS = 1.0


class StdioTransport:
    def __init__(self, processes: Processes, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        self._processes = processes
        self._argv = argv
        self._cwd = cwd
        self._env = env
        self._running: RunningCommand | None = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._words = ""

    async def open(self) -> None:
        with tempfile.TemporaryDirectory(prefix="coder-", dir=_short_folder()) as folder:
            where = os.path.join(folder, "line")
            with socket.socket(socket.AF_UNIX) as door:
                door.bind(where)
                door.listen(1)
                door.setblocking(False)
                self._running = await self._start(where)
                line = await self._connected(door, self._running)
        try:
            self._reader, self._writer = await asyncio.open_connection(sock=line, limit=MOST_BYTES)
        except BaseException:
            line.close()
            raise

    async def deliver(self, take: Take) -> str:
        """`deliver` does not wait for the server to read what it was sent, because many servers do not read while
        they write."""
        assert self._reader is not None, "open comes first"
        try:
            while True:
                line = await self._reader.readuntil(b"\n")
                if line.strip():
                    take(line)
        except asyncio.LimitOverrunError:
            return say("sent a message of more than {count} MiB", count=MOST_BYTES // 1024 // 1024)
        except (asyncio.IncompleteReadError, ConnectionError):
            return await self._end()

    def send(self, message: bytes) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(message + b"\n")

    async def drained(self) -> None:
        if self._writer is not None:
            await self._writer.drain()

    def set_protocol_version(self, version: str) -> None:
        return

    @property
    def last_error_output(self) -> str:
        if self._running is not None:
            self._words = (self._words + self._running.take_output())[-_ERROR_BYTES:]
        return self._words.strip()

    async def close(self) -> None:
        """Ask the server to exit by closing its input, as the protocol prescribes, and then stop it."""
        if self._writer is not None:
            with suppress(OSError):  # the server has exited already
                self._writer.write_eof()
        if self._running is not None:
            await self._running.wait(_LEAVING_SECONDS)
            await self._running.stop()
        if self._writer is not None:
            self._writer.transport.abort()
            self._writer = None

    async def _start(self, where: str) -> RunningCommand:
        argv = [sys.executable, "-I", "-S", str(SHIM), where, *self._argv]
        try:
            return await self._processes.start(argv, cwd=self._cwd, env=self._env, output_bytes=_ERROR_BYTES)
        except (CannotStart, ProcessesLost) as error:
            raise ServerFailed(say("could not be started: {problem}", problem=error.reason)) from error

    async def _connected(self, door: socket.socket, running: RunningCommand) -> socket.socket:
        """Accept the connection of the server. The process may end before it connects, if its folder or our own
        interpreter no longer exists."""
        accepting = asyncio.ensure_future(asyncio.get_running_loop().sock_accept(door))
        ending = asyncio.ensure_future(running.wait())
        try:
            await asyncio.wait({accepting, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not accepting.done():
                raise ServerFailed(say("could not be started: {problem}", problem=_how_it_ended(running)))
        except BaseException:
            accepting.add_done_callback(_close_late_connection)
            raise
        finally:
            for each in (accepting, ending):
                each.cancel()
            await asyncio.gather(accepting, ending, return_exceptions=True)
        return accepting.result()[0]

    async def _end(self) -> str:
        running = self._running
        if running is None or not await running.wait(_LEAVING_SECONDS):
            return "closed its output"
        return _how_it_ended(running)


def _close_late_connection(accepting: "asyncio.Future[tuple[socket.socket, object]]") -> None:
    """Close a connection that was accepted at the moment when nobody wanted it any more."""
    if not accepting.cancelled() and accepting.exception() is None:
        accepting.result()[0].close()


def _how_it_ended(running: RunningCommand) -> str:
    try:
        ended = running.finished()
    except (CannotStart, ProcessesLost) as error:
        return error.reason
    return (
        say("ended by signal {number}", number=ended.signal)
        if ended.signal
        else say("ended with exit code {code}", code=ended.exit_code)
    )


def _short_folder() -> str | None:
    """A folder with a short path, because a socket path may have about 100 bytes; None is the usual temporary
    folder."""
    return "/tmp" if len(os.fsencode(tempfile.gettempdir())) > _SOCKET_NAME_BYTES // 2 else None
