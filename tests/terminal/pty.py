"""`coder` at a terminal that draws: what a person types, presses and pastes, and what they see.

    with at_terminal(coder, "--mode", "yolo") as terminal:
        terminal.type("go")
        terminal.press("enter")
        terminal.wait_until(lambda seen: "done" in seen.text, "the answer")

The program runs as a process of its own on a real pseudo-terminal. One thread carries bytes both ways, so that
neither side can wait for the other: it draws what comes, answers what a terminal is asked, and writes what is typed.
"""

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pyte
from msgspec import Struct

from tests.coder_process import PROGRAM, Coder
from tests.forked_process import ForkedProcess, fork_server, is_like_server
from tests.patience import PATIENCE
from tests.terminal.emulator import Emulator

_POLL_SECONDS = 0.02

_KEYS = {
    "enter": "\r",
    "a-enter": "\x1b\r",
    "escape": "\x1b",
    "tab": "\t",
    "s-tab": "\x1b[Z",
    "backspace": "\x7f",
    "delete": "\x1b[3~",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
}


class Seen(Struct, frozen=True):
    """One moment of the terminal."""

    rows: list[str]
    everything: list[str]
    cursor: tuple[int, int]
    title: str
    bells: int

    @property
    def text(self) -> str:
        """What is on the screen now."""
        return "\n".join(self.rows)

    @property
    def all_text(self) -> str:
        """With what was scrolled away."""
        return "\n".join(self.everything)

    @property
    def cursor_row(self) -> str:
        return self.rows[self.cursor[1]] if self.cursor[1] < len(self.rows) else ""


class Terminal:
    def __init__(self, process: subprocess.Popen[bytes] | ForkedProcess, side: int, columns: int, rows: int) -> None:
        self.process = process
        self._side = side
        self._emulator = Emulator(columns, rows)
        self._stream = pyte.ByteStream(self._emulator)
        self._raw = bytearray()
        self._outgoing = bytearray()
        self._changed = threading.Condition()
        self._ended = False
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(side, False)
        self._carrier = threading.Thread(target=self._carry, name="terminal", daemon=True)
        self._carrier.start()

    def type(self, text: str) -> None:
        with self._changed:
            self._outgoing += text.encode()
        os.write(self._wake_write, b"x")

    def press(self, *keys: str) -> None:
        """`enter`, `escape`, `up`, `c-c`, `a-enter` …"""
        for key in keys:
            self.type(_KEYS.get(key) or _control(key))

    def enter(self, line: str) -> None:
        self.type(line)
        self.press("enter")

    def paste(self, text: str) -> None:
        """As terminals do that know bracketed paste: line ends are carriage returns."""
        self.type(f"\x1b[200~{text}\x1b[201~".replace("\n", "\r"))

    def resize(self, columns: int, rows: int) -> None:
        with self._changed:
            self._emulator.reflow(columns, rows)
            fcntl.ioctl(self._side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))  # sends SIGWINCH
            self._changed.notify_all()

    @property
    def seen(self) -> Seen:
        with self._changed:
            return self._look()

    @property
    def side(self) -> int:
        """Our side of the pseudo-terminal."""
        return self._side

    @property
    def emulator(self) -> Emulator:
        """For colours; look only when nothing is drawn any more."""
        return self._emulator

    @property
    def screen(self) -> list[str]:
        return self.seen.rows

    @property
    def everything(self) -> str:
        return self.seen.all_text

    @property
    def raw(self) -> bytes:
        with self._changed:
            return bytes(self._raw)

    def wait_until(
        self, holds: Callable[[Seen], object], what: str, seconds: float = PATIENCE, *, poll: bool = False
    ) -> Seen:
        """The first moment at which it holds and nothing is half drawn: then the cursor is hidden. `poll` if it
        can come true without anything being drawn."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while not holds(seen := self._look()) or self._emulator.cursor.hidden:
                left = deadline - time.monotonic()
                if self._ended or left <= 0:
                    why = (
                        f"the program ended with {self.process.wait()}" if self._ended else f"{seconds:.0f} s passed"
                    )
                    raise AssertionError(f"{why} before: {what}\n{_framed(seen)}")
                self._changed.wait(_POLL_SECONDS if poll else left)
        return seen

    def wait_for(self, text: str, seconds: float = PATIENCE) -> Seen:
        """Until it stands somewhere, scrollback included."""
        return self.wait_until(lambda seen: text in seen.all_text, repr(text), seconds)

    def wait(self, seconds: float = PATIENCE) -> int:
        """Until the program has ended and everything it wrote was drawn; its exit code."""
        code = self.process.wait(seconds)
        self._carrier.join(1.0)  # a command that it left behind may have the terminal still
        return code

    def kill(self) -> None:
        """As a power cut would: no goodbye."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        with self._changed:
            self._ended = True
        os.write(self._wake_write, b"x")
        self._carrier.join()
        for each in (self._side, self._wake_read, self._wake_write):
            os.close(each)

    def _carry(self) -> None:
        while not self._ended:
            writers = [self._side] if self._outgoing else []
            readable, writable, _ = select.select([self._side, self._wake_read], writers, [])
            if self._wake_read in readable:
                os.read(self._wake_read, 4096)
            with self._changed:
                if self._side in readable:
                    self._draw()
                if writable:
                    self._write()
                self._changed.notify_all()

    def _draw(self) -> None:
        data = b""
        with suppress(OSError):  # nobody has the other side open any more
            data = os.read(self._side, 65536)
        self._ended = self._ended or not data
        self._raw += data
        self._stream.feed(data)
        answers, self._emulator.answers = self._emulator.answers, []
        self._outgoing += "".join(answers).encode()

    def _write(self) -> None:
        with suppress(OSError):  # it has gone, or reads slowly
            del self._outgoing[: os.write(self._side, self._outgoing[:1024])]

    def _look(self) -> Seen:
        screen = self._emulator
        return Seen(
            screen.visible(), screen.everything(), (screen.cursor.x, screen.cursor.y), screen.title, screen.bells
        )


@contextmanager
def at_terminal(
    coder: Coder,
    *arguments: str,
    columns: int = 100,
    rows: int = 30,
    env: Mapping[str, str] | None = None,
    program: Sequence[str] = PROGRAM,
    cwd: Path | None = None,
    forked: bool = False,
) -> Generator[Terminal]:
    """`forked` from a process that has loaded `coder`: for tests that are not about how it begins."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    whole_env = {**coder.env, "TERM": "xterm-256color", "LANG": "C.UTF-8", "CODER_LANG": "en", **(env or {})}
    start = _fork if forked and is_like_server(whole_env) else partial(_start, program)
    process = start(arguments, whole_env, cwd or coder.cwd, theirs)
    os.close(theirs)
    terminal = Terminal(process, ours, columns, rows)
    try:
        yield terminal
    finally:
        terminal.close()


def _fork(arguments: Sequence[str], env: Mapping[str, str], cwd: Path, terminal: int) -> ForkedProcess:
    return fork_server().start_at_terminal("coder", arguments, env, cwd, terminal)


def _start(
    program: Sequence[str], arguments: Sequence[str], env: Mapping[str, str], cwd: Path, terminal: int
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, *program, *arguments],
        cwd=cwd,
        env=env,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )


def _take_terminal() -> None:
    """Make the new terminal the process's own, so that Ctrl-C and a new size reach it as signals."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _control(key: str) -> str:
    kind, _, letter = key.partition("-")
    if kind == "c" and len(letter) == 1:
        return chr(ord(letter.upper()) & 31)
    raise KeyError(key)


def _framed(seen: Seen) -> str:
    return "\n".join(f"│ {line}" for line in seen.everything[-60:])
