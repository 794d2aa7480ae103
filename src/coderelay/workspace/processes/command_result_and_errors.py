"""How a command ended, or why it could not start."""

from __future__ import annotations

import os
from typing import Literal

import msgspec

from coderelay.protocol.translatable import say


class FinishedCommand(msgspec.Struct, frozen=True):
    """A command that ended: by itself with an exit code, or by a signal.

    `output` is standard output and error in the order written, or standard output alone if `errors` were collected
    separately. If `omitted_bytes` is not 0, a line in the middle of the output says so.
    `ended_because` says why we ended the command, if not because of its time limit.
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
    """The command did not start: nothing of it ran; the `reason` says why. If a sandbox did not start, `detail` says
    why."""

    def __init__(
        self,
        *,
        program: str,
        cwd: str,
        what: Literal["folder", "program", "process", "sandbox"],
        errno: int,
        detail: str = "",
    ) -> None:
        self.reason = f"{cwd if what == 'folder' else program}: {detail or os.strerror(errno)}"
        super().__init__(self.reason)
        self.program = program
        self.cwd = cwd
        self.what = what
        self.errno = errno


class ProcessesLost(Exception):
    """The command may have run. How it ended is unknown, because its supervisor ended or was closed."""

    def __init__(self, *, program: str, closed: bool) -> None:
        self.reason = (
            say("{program}: its supervisor was closed", program=program)
            if closed
            else say("{program}: its supervisor ended", program=program)
        )
        super().__init__(self.reason)
        self.program = program
        self.closed = closed
