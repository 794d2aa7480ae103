"""The scripted job: so many steps of read, write and shell in turn, then an answer."""

from pathlib import Path

from msgspec.structs import replace

from bench.server import Answer, answer
from tests.model_server import Call, bash, proposes, read, says, write

KINDS = ("read", "write", "shell")
DONE = answer(says("Done, all of it."))
_FILES = 10
_TEXT = "".join(f"line {number}: the quick brown fox jumps over the lazy dog\n" for number in range(40))


def job(steps: int) -> list[Answer]:
    return [*(answer(proposes(call_of(step))) for step in range(steps)), DONE]


def kind_of(step: int) -> str:
    return KINDS[step % len(KINDS)]


def lay_out(folder: Path) -> None:
    """The files that the job reads."""
    for number in range(_FILES):
        (folder / f"read{number}.txt").write_text(_TEXT)


def call_of(step: int) -> Call:
    number = step // len(KINDS) % _FILES
    match kind_of(step):
        case "read":
            call = read(f"read{number}.txt")
        case "write":
            call = write(f"written{number}.txt", _TEXT[:400] + f"{step}\n")
        case _:
            call = bash(f"echo 'stepped' {step}")  # so what it prints is nowhere in what was asked for
    return replace(call, id=f"call_{step}")
