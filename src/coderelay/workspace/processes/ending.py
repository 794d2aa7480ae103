"""How a command ended, or why there was none."""

import os
from typing import Literal

import msgspec


class Finished(msgspec.Struct, frozen=True):
    """A command that ended: by itself with an exit code, or by a signal.

    `output` is what it wrote to standard output and error, in the order written; or to standard output alone, if
    its `errors` were wanted apart. When `omitted_bytes` is not 0, a line in the middle of it says so.
    `ended_because` is why we ended it, for another reason than time.
    """

    exit_code: int | None
    signal: int | None
    output: str
    omitted_bytes: int
    timed_out: bool
    seconds: float
    errors: str = ""
    ended_because: str = ""


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
