"""Standard output and standard error of `coder`, which neither raise nor hold a session up.

`install` replaces `sys.stdout` and `sys.stderr` once, when the program starts:

- A stream that is closed, full or otherwise broken takes everything and keeps nothing. The first failure of standard
  output is remembered, and `finish` makes it the exit code. Only a reader that has gone is told at once, by
  BrokenPipeError, so that work nobody will see can be stopped.
- What reaches a terminal as text passes `visible`. Whoever draws uses `draw` or `sys.stdout.buffer`.
- After `write_behind` a thread writes, so that a reader who does not read stops nobody else. Surfaces look at
  `waiting` and hold back what can be read from the log later.

`--version` loads this, so it imports nothing that the interpreter has not loaded already.
"""

import errno
import io
import os
import sys

TYPE_CHECKING = False  # as in typing, which `--version` would wait for
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_WAITING = 1 << 18
"""Bytes that may wait for a reader before a surface holds back."""

_NOBODY_READS = 141  # what a shell says of a program that SIGPIPE has ended
_INTERRUPTED = 130
_LOOK_SECONDS = 0.05
_HURRIED_SECONDS = 0.3
_streams: "list[StandardStream]" = []  # standard output and standard error, once they are installed
_writers: "list[_Writer]" = []
_is_hurried = False


class StandardStream(io.RawIOBase):
    """The file beneath `sys.stdout` or `sys.stderr`. Takes all it is given."""

    def __init__(self, file: int) -> None:
        self._file = file
        self.name = "<stdout>" if file == 1 else "<stderr>"
        self.error: OSError | None = None
        self.writer: _Writer | None = None

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file

    def isatty(self) -> bool:
        return os.isatty(self._file)

    def write(self, data: "bytes | bytearray | memoryview", /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]  # typeshed's ReadableBuffer has no name here
        if self.error is None:
            if self.writer is None:
                self.write_now(data)
            else:
                self.writer.put(self, bytes(data))
        if isinstance(self.error, BrokenPipeError) and self._file == 1:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        return len(data)

    def write_now(self, data: "bytes | bytearray | memoryview") -> None:
        """Waits for the reader."""
        left = memoryview(data)
        while left and self.error is None:
            try:
                left = left[os.write(self._file, left) :]
            except BlockingIOError:  # whoever started this program shares the file, and does not want to wait there
                _wait_for_room(self._file)
            except OSError as error:
                self.error = error


class _TerminalText(io.TextIOWrapper):
    """Text for a terminal. Models, tools and servers write some of it; none of them may steer the terminal."""

    def write(self, text: str, /) -> int:
        if not text.isprintable():
            from coderelay.client.visible import visible

            text = visible(text)
        return super().write(text)


class _Writer:
    """A thread that writes to one file, for both streams if they are the same file: so their order is kept."""

    def __init__(self) -> None:
        import threading

        self._changed = threading.Condition()
        self._pieces: list[tuple[StandardStream, bytes]] = []
        self._waiting = 0
        # A daemon, because a write to somebody who does not read cannot be ended.
        threading.Thread(target=self._write, name="output", daemon=True).start()

    @property
    def waiting(self) -> int:
        return self._waiting

    def put(self, stream: StandardStream, data: bytes) -> None:
        with self._changed:
            self._pieces.append((stream, data))
            self._waiting += len(data)
            if len(self._pieces) == 1:
                self._changed.notify_all()

    def wait(self, seconds: float | None) -> None:
        """Until everything is written, at most so long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting, seconds)

    def _write(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pieces)
                pieces, self._pieces = self._pieces, []
            for stream, data in _joined(pieces):
                stream.write_now(data)
                with self._changed:
                    self._waiting -= len(data)
                    self._changed.notify_all()


def install() -> None:
    _open_closed_files()
    sys.stdout = _text_stream(sys.stdout, 1)
    sys.stderr = _text_stream(sys.stderr, 2)


def write_behind() -> None:
    """From now on, writing waits for nobody. For commands that keep a session running."""
    if _writers:
        return
    for stream in _streams:
        shared = _writers and os.path.sameopenfile(stream.fileno(), _streams[0].fileno())
        if not shared:
            _writers.append(_Writer())
        stream.writer = _writers[-1]


def waiting() -> int:
    """How many bytes no reader has taken yet."""
    return max((each.waiting for each in _writers), default=0)


async def taken_down_to(most: int, unless: "Callable[[], bool]" = lambda: False) -> None:
    """Until no more than `most` bytes wait for a reader, or somebody wants this program to end."""
    import asyncio

    while waiting() > most and not _is_hurried and not unless():  # noqa: ASYNC110  # it is a thread that writes
        await asyncio.sleep(_LOOK_SECONDS)


def hurry() -> None:
    """Somebody wants this program to end: it waits for no reader any more."""
    global _is_hurried
    _is_hurried = True


def draw(text: str) -> None:
    """To standard output as it is, with whatever a terminal obeys in it."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(sys.stdout.encoding, "replace"))


def finish(code: int) -> int:
    """Wait until the readers have everything. Returns the exit code: `code`, unless standard output has failed."""
    try:
        for text in (sys.stdout, sys.stderr):
            text.flush()
        for writer in _writers:
            writer.wait(_HURRIED_SECONDS if _is_hurried else None)
    except BrokenPipeError:
        pass  # `error` below says so
    except KeyboardInterrupt:
        return code or _INTERRUPTED
    error = _streams[0].error
    if error is None or code != 0:
        return code
    if isinstance(error, BrokenPipeError):
        return _NOBODY_READS
    from coderelay.client.language import t

    told = t("standard output cannot be written: {problem}", problem=error.strerror)
    sys.stderr.write(f"coder: {told}\n")
    for writer in _writers:
        writer.wait(_HURRIED_SECONDS)
    return 1


def _open_closed_files() -> None:
    """Else the next file that is opened takes the place of a closed stream, and messages would be written into it.
    Opened for reading only: then writing fails as it would have."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
    if sys.stdin is None:  # it was closed
        sys.stdin = open(0, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def _text_stream(before: "io.TextIOBase | object", number: int) -> io.TextIOWrapper:
    stream = StandardStream(number)
    _streams.append(stream)
    kind = _TerminalText if stream.isatty() else io.TextIOWrapper
    if not isinstance(before, io.TextIOWrapper):  # it was closed
        return kind(stream, "utf-8", "backslashreplace", line_buffering=number == 2)
    before.flush()
    by_lines = before.line_buffering or before.write_through
    return kind(stream, before.encoding, before.errors, line_buffering=by_lines)


def _joined(pieces: "list[tuple[StandardStream, bytes]]") -> "list[tuple[StandardStream, bytes]]":
    """Neighbours of the same stream as one."""
    found: list[tuple[StandardStream, list[bytes]]] = []
    for stream, data in pieces:
        if not found or found[-1][0] is not stream:
            found.append((stream, []))
        found[-1][1].append(data)
    return [(stream, b"".join(each)) for stream, each in found]


def _wait_for_room(file: int) -> None:
    import select

    select.select([], [file], [])
