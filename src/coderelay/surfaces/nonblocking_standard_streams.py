"""Replacement for `sys.stdout` and `sys.stderr` whose writes neither raise nor block a session.

`install` replaces `sys.stdout` and `sys.stderr` once, when the program starts:

- Writes to a stream that is closed, full or otherwise broken succeed, and the data is discarded. The first failure of
  standard output is remembered, and `finish` turns it into the exit code. Only a closed pipe on standard output is
  reported at once, by BrokenPipeError, so that work whose output nobody will see can be stopped.
- A character that the encoding of the stream does not have (GBK, Latin-1, ASCII) is written as an escape.
- Text written to a terminal is sanitized by `visible`. Code that draws with escape sequences uses `draw` or
  `sys.stdout.buffer` instead.
- After `write_behind`, a thread writes whatever the reader has no room for, so that a slow one blocks nothing else.
  Surfaces check `waiting` and hold back output that they can read from the log later.

`--version` loads this module, so it imports nothing that the interpreter has not loaded already.
"""

import errno
import io
import os
import sys

TYPE_CHECKING = False  # the same as typing.TYPE_CHECKING, without the time that importing typing costs `--version`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

MOST_WAITING = 1 << 18
"""The number of unwritten bytes above which a surface holds its output back."""

_NOBODY_READS = 141  # the exit code that a shell reports for a program killed by SIGPIPE
_INTERRUPTED = 130
_LOOK_SECONDS = 0.05
_LAST_WAIT_SECONDS = 0.3
_streams: "list[StandardStream]" = []  # standard output and standard error, once they are installed
_writers: "list[_Writer]" = []
_has_stopped_waiting = False


class StandardStream(io.RawIOBase):
    """The raw file beneath `sys.stdout` or `sys.stderr`. It accepts everything that is written to it."""

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
        """Write the data and block until the reader has taken it. A failure is kept in `error`."""
        left = memoryview(data)
        while left and self.error is None:
            try:
                left = left[os.write(self._file, left) :]
            except BlockingIOError:  # the parent process shares this file and has made it non-blocking
                _wait_for_room(self._file)
            except OSError as error:
                self.error = error


class _TerminalText(io.TextIOWrapper):
    """A text stream to a terminal that removes control sequences: text from models, tools and servers must not
    control the terminal."""

    def write(self, text: str, /) -> int:
        if not text.isprintable():
            from coderelay.protocol.text_escaping_and_width import visible

            text = visible(text)
        return super().write(text)


class _Writer:
    """Writes to one file. A thread, started when it is first needed, writes the pieces that might block. Both streams
    share the writer if they are the same file, which keeps their order."""

    def __init__(self) -> None:
        import threading

        self._changed = threading.Condition()
        self._pieces: list[tuple[StandardStream, bytes]] = []
        self._waiting = 0
        # A daemon thread, because a blocked write to a reader that does not read cannot be cancelled.
        self._thread = threading.Thread(target=self._write, name="output", daemon=True)
        self._is_started = False

    @property
    def waiting(self) -> int:
        return self._waiting

    def put(self, stream: StandardStream, data: bytes) -> None:
        with self._changed:
            if not self._waiting and _has_room(stream.fileno(), len(data)):
                stream.write_now(data)
                return
            self._pieces.append((stream, data))
            self._waiting += len(data)
            if not self._is_started:
                self._is_started = True
                self._thread.start()
            if len(self._pieces) == 1:
                self._changed.notify_all()

    def wait(self, seconds: float | None) -> None:
        """Wait until everything is written, for at most `seconds`."""
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
    _tolerate(sys.stdin)


def write_behind() -> None:
    """Write in a thread from now on, so that writes do not block. For commands that keep a session running."""
    if _writers:
        return
    for stream in _streams:
        shared = _writers and os.path.sameopenfile(stream.fileno(), _streams[0].fileno())
        if not shared:
            _writers.append(_Writer())
        stream.writer = _writers[-1]


def waiting() -> int:
    """The number of bytes that no reader has taken yet."""
    return max((each.waiting for each in _writers), default=0)


async def wait_until_written(most: int, unless: "Callable[[], bool]" = lambda: False) -> None:
    """Wait until at most `most` bytes are unwritten, `stop_waiting_for_readers` was called, or `unless` is true."""
    import asyncio

    while waiting() > most and not _has_stopped_waiting and not unless():  # noqa: ASYNC110  # a thread does the writing
        await asyncio.sleep(_LOOK_SECONDS)


def stop_waiting_for_readers() -> None:
    """Stop waiting for readers, because the program was asked to end."""
    global _has_stopped_waiting
    _has_stopped_waiting = True


def draw(text: str) -> None:
    """Write to standard output unchanged, escape sequences included."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(sys.stdout.encoding, "replace"))


def write_json(out: "TextIO", text: str) -> None:
    """Write a line of JSON at once. A stream whose encoding is not UTF-8 gets it in ASCII, which every JSON reader
    takes."""
    if out.encoding.lower() not in ("utf-8", "utf8"):
        import json  # needed in few locales

        text = json.dumps(json.loads(text), indent=1 if "\n" in text else None)
    out.write(f"{text}\n")
    out.flush()


def finish(code: int) -> int:
    """Wait until the readers have everything. Returns the exit code: `code`, unless standard output has failed or the
    wait was interrupted."""
    try:
        for text in (sys.stdout, sys.stderr):
            text.flush()
        for writer in _writers:
            writer.wait(_LAST_WAIT_SECONDS if _has_stopped_waiting else None)
    except BrokenPipeError:
        pass  # reported below, from `error`
    except KeyboardInterrupt:
        return code or _INTERRUPTED
    error = _streams[0].error
    if error is None and _has_stopped_waiting and waiting():
        return code or _INTERRUPTED  # the program was asked to end before a reader had everything
    if error is None or code != 0:
        return code
    if isinstance(error, BrokenPipeError):
        return _NOBODY_READS
    from coderelay.client.i18n import t

    told = t("cannot write to standard output: {problem}", problem=error.strerror)
    sys.stderr.write(f"coder: {told}\n")
    for writer in _writers:
        writer.wait(_LAST_WAIT_SECONDS)
    return 1


def _open_closed_files() -> None:
    """Open /dev/null in place of closed standard streams. Otherwise the next opened file would get the descriptor of
    a closed stream, and messages would be written into it. It is opened read-only, so that writing still fails."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
    if sys.stdin is None:  # standard input was closed
        sys.stdin = open(0, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def _text_stream(before: "io.TextIOBase | object", number: int) -> io.TextIOWrapper:
    stream = StandardStream(number)
    _streams.append(stream)
    kind = _TerminalText if stream.isatty() else io.TextIOWrapper
    if not isinstance(before, io.TextIOWrapper):  # the stream was closed
        return kind(stream, "utf-8", "backslashreplace", line_buffering=number == 2)
    before.flush()
    by_lines = before.line_buffering or before.write_through
    return kind(stream, before.encoding, "backslashreplace", line_buffering=by_lines)


def _tolerate(stream: "io.TextIOBase | object") -> None:
    """Input in another encoding than that of the locale is no crash."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")


def _joined(pieces: "list[tuple[StandardStream, bytes]]") -> "list[tuple[StandardStream, bytes]]":
    """Merge consecutive pieces of the same stream into one."""
    found: list[tuple[StandardStream, list[bytes]]] = []
    for stream, data in pieces:
        if not found or found[-1][0] is not stream:
            found.append((stream, []))
        found[-1][1].append(data)
    return [(stream, b"".join(each)) for stream, each in found]


def _has_room(file: int, size: int) -> bool:
    """Whether writing so many bytes cannot block: a file or /dev/null has no reader to wait for, and of a pipe it can
    be told. A terminal says that there is room for one byte, which is not enough."""
    import select
    import stat

    found = os.fstat(file)
    if stat.S_ISFIFO(found.st_mode):
        return size <= select.PIPE_BUF and file in select.select([], [file], [], 0)[1]
    return stat.S_ISREG(found.st_mode) or os.path.samestat(found, os.stat(os.devnull))


def _wait_for_room(file: int) -> None:
    import select

    select.select([], [file], [])
