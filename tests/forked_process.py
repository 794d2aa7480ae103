"""A process that the fork server made for a test, with what the tests use of `subprocess.Popen`."""

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

_READ_AT_START = ("LANG", "LC_", "LD_", "PYTHON", "TZ")  # by the loader, the C library and Python
_AT_START = {"LANG": "C.UTF-8", "PYTHONWARNINGS": "error"}


class Start(Struct, frozen=True, tag=True):
    """Answered with a pid. Comes with three descriptors: stdin, stdout and stderr. With `at_terminal`, they are a
    terminal, which becomes the process's own."""

    program: str
    arguments: tuple[bytes, ...]
    env: dict[bytes, bytes]
    cwd: bytes
    at_terminal: bool


class Reap(Struct, frozen=True, tag=True):
    """Answered with the wait status of a process that has ended. Until then its pid is nobody else's."""

    pid: int


class ForkedProcess:
    def __init__(self, server: "ForkServer", pid: int, stdout: IO[str] | None, stderr: IO[str] | None) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdout = stdout
        self.stderr = stderr
        self._server = server
        self._pidfd = os.pidfd_open(pid)
        self._readers: list[_Reader] = []

    def poll(self) -> int | None:
        if self.returncode is None and self._has_ended(0):
            self.returncode = os.waitstatus_to_exitcode(self._server.reap(self.pid))
            os.close(self._pidfd)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not self._has_ended(timeout):
            raise subprocess.TimeoutExpired("a forked process", timeout or 0)
        code = self.poll()
        assert code is not None
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        deadline = None if timeout is None else time.monotonic() + timeout
        self._readers = self._readers or [_Reader(self.stdout), _Reader(self.stderr)]
        out, err = (reader.text(deadline) for reader in self._readers)
        self.wait(_left(deadline))
        return out, err

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            signal.pidfd_send_signal(self._pidfd, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _has_ended(self, timeout: float | None) -> bool:
        ending = select.poll()
        ending.register(self._pidfd, select.POLLIN)
        return bool(ending.poll(None if timeout is None else timeout * 1000))


class _Reader:
    """Reads a stream to its end, so that the process never waits for a reader."""

    def __init__(self, stream: IO[str] | None) -> None:
        self._stream = stream
        self._text = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self, deadline: float | None) -> str:
        self._thread.join(_left(deadline))
        if self._thread.is_alive():
            raise subprocess.TimeoutExpired("a forked process", 0)
        return self._text

    def _read(self) -> None:
        if self._stream is not None and not self._stream.closed:
            with self._stream:
                self._text = self._stream.read()


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


class ForkServer:
    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=Path(__file__).parents[1],
                env={"PATH": os.environ["PATH"], **_AT_START},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # no terminal, so the streams of the forked processes are buffered
            )

    def start(self, program: str, arguments: Sequence[str], env: Mapping[str, str], cwd: Path) -> ForkedProcess:
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        with open(os.devnull, "rb") as nothing:
            pid = self._fork(program, arguments, env, cwd, (nothing.fileno(), out_end, err_end))
        os.close(out_end)
        os.close(err_end)
        return ForkedProcess(self, pid, _text(out), _text(err))

    def start_at_terminal(
        self, program: str, arguments: Sequence[str], env: Mapping[str, str], cwd: Path, terminal: int
    ) -> ForkedProcess:
        """The process reads from and writes to a terminal of its own, whose descriptor the caller closes."""
        pid = self._fork(program, arguments, env, cwd, (terminal, terminal, terminal), at_terminal=True)
        return ForkedProcess(self, pid, None, None)

    def _fork(
        self,
        program: str,
        arguments: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        streams: tuple[int, int, int],
        *,
        at_terminal: bool = False,
    ) -> int:
        words = tuple(map(os.fsencode, arguments))
        variables = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        return self._ask(Start(program, words, variables, os.fsencode(cwd), at_terminal), *streams)

    def reap(self, pid: int) -> int:
        return self._ask(Reap(pid))

    def close(self) -> None:
        self._door.close()
        self._process.wait()

    def _ask(self, request: object, *streams: int) -> int:
        with self._one_at_a_time:
            socket.send_fds(self._door, [msgspec.msgpack.encode(request)], streams)
            return msgspec.msgpack.decode(self._door.recv(64), type=int)


def _text(file: int) -> IO[str]:
    return open(file, encoding="utf-8", errors="surrogateescape")


def is_like_server(env: Mapping[str, str]) -> bool:
    """Whether a process with these variables would start as the fork server did."""
    return {name: value for name, value in env.items() if name.startswith(_READ_AT_START)} == _AT_START


@cache
def fork_server() -> ForkServer:
    """The one of this process, started when a test needs it first."""
    server = ForkServer()
    atexit.register(server.close)
    return server
