"""Commands as an agent wrote them while it worked: what each does at worst, and what we make of it.

The texts under `corpus/` were recorded, not invented: an agent read this repository, made and repaired small projects
in several languages, resolved conflicts, looked through logs and found out why a server hung. A line `## read`
stands before what only reads in the workspace; `edit` makes or changes files there, `build` runs tests or builds,
`danger` removes or discards, and `run` is everything else: programs of the project, texts for an interpreter, other
machines, places outside.

Two numbers count. *Unsafe*: something was let through as less than it is. *Noisy*: a reading command was questioned.
"""

import re
import sys
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import pytest

from coderelay.policy.shell.command_verdict import assess, judge_command
from coderelay.protocol.session_setting_values import Mode

Worst = Literal["read", "edit", "build", "run", "danger"]
FOLDERS = ("/workspace",)
MOST_NOISY = 20
_LET_THROUGH: dict[str, set[Worst]] = {"read": {"read"}, "edit": {"read", "edit"}, "build": {"read", "edit", "build"}}
_UNASKED: dict[Mode, str] = {"plan": "read", "default": "read", "auto-edit": "build"}


class Recorded(NamedTuple):
    worst: Worst
    command: str


def recorded() -> list[Recorded]:
    found: list[Recorded] = []
    for path in sorted((Path(__file__).parent / "corpus").glob("*.txt")):
        _, *parts = re.split(r"^## (\w+)\n", path.read_text(), flags=re.MULTILINE)
        for worst, command in zip(parts[::2], parts[1::2], strict=True):
            found.append(Recorded(msgspec.convert(worst, Worst), command.removesuffix("\n")))
    return found


CORPUS = recorded()


@pytest.mark.quick
def test_c07_c32_no_recorded_command_passes_for_less_than_it_is() -> None:
    assert len(CORPUS) >= 250
    effects = [(assess(each.command, FOLDERS, sandboxed=True).effect, each) for each in CORPUS]
    assert [each for effect, each in effects if each.worst not in _LET_THROUGH.get(effect, {each.worst})] == []


@pytest.mark.parametrize("mode", _UNASKED)
def test_c06_c07_c08_no_recorded_command_runs_unasked_in_a_mode_that_asks(mode: Mode) -> None:
    judged = [(each, judge_command(each.command, mode, FOLDERS, sandboxed=True).verdict) for each in CORPUS]
    through = [each for each, verdict in judged if verdict == "allow"]
    assert [each for each in through if each.worst not in _LET_THROUGH[_UNASKED[mode]]] == []


@pytest.mark.quick
def test_c07_few_recorded_commands_that_only_read_are_questioned() -> None:
    reading = [each.command for each in CORPUS if each.worst == "read"]
    found = [(command, assess(command, FOLDERS, sandboxed=True)) for command in reading]
    noisy = [f"{judged.reason}: {command}" for command, judged in found if judged.effect != "read"]
    sys.stdout.write(f"noisy: {len(noisy)} of {len(reading)}\n" + "\n".join(noisy) + "\n")
    assert len(noisy) <= MOST_NOISY
