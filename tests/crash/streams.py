"""Standard streams as a process may meet them: read, closed, full, without a reader, or with one that has stopped."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

Stream = Literal["read", "closed", "full", "stalled", "broken"]
STREAMS: tuple[Stream, ...] = ("read", "closed", "full", "stalled", "broken")
_SMALL_PIPE = 4096
_SECONDS = 60.0


class StreamedProcess:
    """A Python program whose stdout and stderr are each in one of these states."""

    def __init__(
        self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], out: Stream, err: Stream
    ) -> None:
        self.arguments = arguments
        self._out, self._err = _Pipe(out), _Pipe(err)
        closing = f"{'>&-' if out == 'closed' else ''} {'2>&-' if err == 'closed' else ''}"
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$@" {closing}', "sh", sys.executable, *arguments],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=self._out.write_end,
            stderr=self._err.write_end,
        )
        self._out.begin()
        self._err.begin()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def lines(self) -> list[str]:
        """The lines of stdout that were read so far."""
        return self._out.lines()

    def wait_for_lines(self, count: int, of: Callable[[str], bool] = bool) -> None:
        """Until so many lines of stdout (`of` this sort) were read, or there will be no more."""
        self._out.wait_for_lines(count, of)

    def finish(self) -> tuple[int, str, str]:
        """The exit code and what was written. From here on also a stalled stream is read."""
        self._out.read()
        self._err.read()
        try:
            code = self.process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        return code, self._out.text(), self._err.text()


class _Pipe:
    def __init__(self, state: Stream) -> None:
        self._state = state
        self._file: IO[bytes] | None = None
        self._content = b""
        self._grown = threading.Condition()
        self._ended = False
        self._thread: threading.Thread | None = None
        if state in ("full", "closed"):
            self.write_end = os.open("/dev/full" if state == "full" else os.devnull, os.O_WRONLY)
            return
        read_end, self.write_end = os.pipe()
        if state == "broken":
            os.close(read_end)
            return
        if state == "stalled":
            fcntl.fcntl(self.write_end, fcntl.F_SETPIPE_SZ, _SMALL_PIPE)
        self._file = open(read_end, "rb", closefd=True)  # noqa: SIM115 - closed by the thread that reads it

    def begin(self) -> None:
        """Once the process has its end of it."""
        os.close(self.write_end)
        if self._state == "read":
            self.read()

    def read(self) -> None:
        if self._file is not None and self._thread is None:
            self._thread = threading.Thread(target=self._drain, args=(self._file,), daemon=True)
            self._thread.start()

    def text(self) -> str:
        if self._thread is not None:
            self._thread.join(_SECONDS)
        return self._content.decode(errors="replace")

    def lines(self) -> list[str]:
        return [line.decode(errors="replace") for line in self._content.split(b"\n")[:-1]]

    def wait_for_lines(self, count: int, of: Callable[[str], bool]) -> None:
        with self._grown:
            self._grown.wait_for(lambda: self._ended or len([*filter(of, self.lines())]) >= count, _SECONDS)

    def _drain(self, file: IO[bytes]) -> None:
        with file:
            while piece := os.read(file.fileno(), 1 << 16):
                self._take(piece)
        self._take(b"", ended=True)

    def _take(self, piece: bytes, *, ended: bool = False) -> None:
        with self._grown:
            self._content += piece
            self._ended = ended
            self._grown.notify_all()
