"""Runs one command as a filter: with a text on standard input, and standard output and error separate.

A command of `Processes` has no input, and one output for everything. So a shell redirects its input from a file and
its errors into a named pipe, removes both names, and then becomes the command.
"""

import asyncio
import os
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress

from msgspec import Struct

from coderelay.workspace.processes.command_runner import FinishedCommand, Processes

_ERROR_BYTES = 16 * 1024
_READ_BYTES = 1 << 16
_SHELL = "/bin/sh"
_NOT_CONNECTED = 126
_CONNECT = f"""\
[ -r "$1" ] && [ -p "$2" ] || exit {_NOT_CONNECTED}
exec <"$1" 2>"$2"
rm -f "$1" "$2" 2>/dev/null
exec {_SHELL} -c "$3"
"""


class FilterResult(Struct, frozen=True):
    """A filter's result. `ended.output` is standard output alone; of long `errors` only the beginning is kept."""

    ended: FinishedCommand
    errors: str


async def run_with_input(
    processes: Processes,
    command: str,
    text: bytes,
    *,
    cwd: str,
    env: Mapping[str, str],
    seconds: float,
    output_bytes: int,
) -> FilterResult:
    """Run `command`, a shell command line, as `Processes.run` does, with `text` as its input."""
    with tempfile.TemporaryDirectory(prefix="coder-", ignore_cleanup_errors=True) as folder:
        given, said = os.path.join(folder, "input"), os.path.join(folder, "errors")
        _write(given, text)
        os.mkfifo(said, 0o600)
        with _beginning(said) as errors:
            ended = await processes.run(
                [_SHELL, "-c", _CONNECT, "sh", given, said, command],
                cwd=cwd,
                env=env,
                seconds=seconds,
                output_bytes=output_bytes,
            )
    return FilterResult(ended, errors.decode(errors="replace").strip())


def _write(path: str, text: bytes) -> None:
    with open(path, "xb") as file:
        file.write(text)


@contextmanager
def _beginning(pipe: str) -> Generator[bytearray]:
    """The beginning of what is written into the pipe, complete when the context ends. Everything is read, so that no
    writer blocks on a full pipe."""
    kept = bytearray()
    # Opened for writing too: with a writer of our own, the pipe never ends while we read.
    end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def read() -> int:
        chunk = os.read(end, _READ_BYTES)
        kept.extend(chunk[: _ERROR_BYTES - len(kept)])
        return len(chunk)

    def read_some() -> None:
        with suppress(BlockingIOError):
            read()

    loop = asyncio.get_running_loop()
    loop.add_reader(end, read_some)
    try:
        yield kept
        with suppress(BlockingIOError):  # all writers are dead, so this ends
            while read():
                pass
    finally:
        loop.remove_reader(end)
        os.close(end)
