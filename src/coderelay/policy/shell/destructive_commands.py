"""Recognises destructive commands that nobody runs on purpose, and writing to disks and absolute paths."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from coderelay.policy.shell.programs.destructive_uses import DISK
from coderelay.policy.shell.programs.program_table import find_program
from coderelay.protocol.translatable import say


class Danger(Struct, frozen=True):
    """A reason to ask about a command or, with `refused`, to refuse it. If `by_user_rule` is true, it comes from a
    rule of the person, which no allow rule overrides."""

    reason: str
    refused: bool = False
    by_user_rule: bool = False


def destruction(words: Sequence[str]) -> Iterator[Danger]:
    """Destructive commands that nobody runs on purpose; they are refused outside of yolo."""
    find_destruction = find_program(words[0]).find_destruction
    if find_destruction is not None and (reason := find_destruction(words[1:])):
        yield Danger(reason, refused=True)


def overwriting(target: str) -> Iterator[Danger]:
    if DISK.match(target):
        yield Danger("it overwrites a disk", refused=True)
    elif target.startswith(("/", "~", "$")) and target not in ("/dev/null", "/dev/stderr", "/dev/stdout"):
        yield Danger(say("it writes to {path}", path=target))
