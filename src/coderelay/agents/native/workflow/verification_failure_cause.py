"""Why a check failed: because of the work, and which tests, or because of the machine (Trouble)."""

import re
from collections.abc import Collection, Iterable, Sequence
from posixpath import splitext
from typing import Literal

from msgspec import Struct

from coderelay.protocol.calls import CommandEnd, Denied, Failed, Finished, Outcome, Stopped, Unknown
from coderelay.session.state import CallState

Trouble = Literal[
    "tool missing",
    "module missing",
    "no network",
    "no tests",
    "not permitted",
    "wrong use",
    "no room",
    "too slow",
    "killed",
    "not run",
    "cut off",
]


class CheckRun(Struct, frozen=True):
    """A run of a check. `ended` is the exit code; if the command has none, it says what happened instead."""

    ended: int | Literal["too slow", "killed", "not run", "cut off"]
    output: str = ""


def run_of(outcome: Outcome) -> CheckRun:
    """The run of a check, from the outcome of its bash call."""
    match outcome:
        case Finished():
            return CheckRun(0, outcome.output)
        case Failed():
            return _failed_run(outcome.end or _end_in_old_log(outcome.message), outcome.message)
        case Unknown() | Stopped(started=True):
            return CheckRun("cut off")
        case Denied() | Stopped():
            return CheckRun("not run")


def _failed_run(end: CommandEnd, message: str) -> CheckRun:
    output = message.partition("\n")[2]
    match end.cause:
        case "":
            return CheckRun(end.exit_code if end.exit_code is not None else 128 + (end.signal or 0), output)
        case "timeout":
            return CheckRun("too slow", message)
        case "lost":
            return CheckRun("cut off")
        case "not started" | "disk":
            return CheckRun("not run", message)


def _end_in_old_log(message: str) -> CommandEnd:
    """In a log that was written before `Failed.end` existed, only the first line of the message says how a command
    ended."""
    head = message.partition("\n")[0]
    if code := re.fullmatch(r"exit code (\d+)", head):
        return CommandEnd(exit_code=int(code[1]))
    if signal := re.fullmatch(r"ended by signal (\d+)", head):
        return CommandEnd(signal=int(signal[1]))
    if head.startswith("the command was lost"):
        return CommandEnd(cause="lost")
    return CommandEnd(cause="timeout" if head.startswith("timed out") else "not started")


# If tests ran and failed, nothing else in the output matters.
_TESTS_FAILED = re.compile(
    r"\b[1-9]\d* failed\b"  # pytest, cargo, vitest
    r"|^[ \t]*--- FAIL:"  # go
    r"|^Tests:.*\b[1-9]\d* failed"  # jest
    r"|^[ \t]*[1-9]\d* failing\b"  # mocha
    r"|^not ok \d|^# fail [1-9]"  # tap, node
    r"|^test result: FAILED|^error\[E\d+\]"  # cargo
    r"|There (?:are|were) (?:test failures|failing tests)|COMPILATION ERROR|Compilation failed",  # maven, gradle
    re.MULTILINE,
)

_SIGNS: tuple[tuple[Trouble, re.Pattern[str]], ...] = (
    (
        "no network",
        re.compile(
            r"could(?: not|n't) resolve (?:host|dependencies|all (?:files|dependencies|artifacts))|no such host"
            r"|could(?: not|n't) connect to|could not be resolved|cannot access central|unable to update registry"
            r"|temporary failure in name resolution|name or service not known|network is unreachable"
            r"|failed to (?:download|fetch|get) |spurious network error|unknownhostexception"
            r"|getaddrinfo (?:enotfound|eai_again)|proxyconnect|dial tcp|could not transfer artifact"
            r"|could not install gradle",
            re.IGNORECASE,
        ),
    ),
    (
        "no tests",
        re.compile(
            r"no tests? (?:ran|found|files found|to run|specified)|no tests were (?:found|collected)"
            r"|missing script:? .?test|command \"test\" not found|collected 0 items(?! /)",
            re.IGNORECASE,
        ),
    ),
    (
        "wrong use",
        re.compile(
            r"unrecognized arguments?|unknown (?:option|argument|flag)|bad option:|does not take an argument"
            r"|cannot find main module|no go\.mod|could not find `?cargo\.toml|no pom in this directory"
            r"|does not contain a gradle build|requires go >= |unsupported class file major version",
            re.IGNORECASE,
        ),
    ),
    (
        "tool missing",
        re.compile(
            r"command not found|: not found$|is not recognized as an internal|executable file not found"
            r"|linker `\S+` not found|no default toolchain|JAVA_HOME|unable to locate a java runtime"
            r"|No module named '?(?:pytest|pip)'?$",
            re.IGNORECASE | re.MULTILINE,
        ),
    ),
    ("no room", re.compile(r"no space left on device|disk quota exceeded|cannot allocate memory", re.IGNORECASE)),
    (
        "not permitted",
        re.compile(
            r"permission denied|operation not permitted|read-only file system|\b(?:EACCES|EPERM|EROFS)\b",
            re.IGNORECASE,
        ),
    ),
)
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_MODULE = re.compile(
    r"No module named '?([\w.]+)"  # python
    r"|Cannot find (?:module|package) '([^'\n]+)'"  # node
    r"|no required module provides package (\S+)"  # go
)
_NO_TESTS_CODE = 5  # pytest
_USAGE_CODE = 4
_TOOL_CODES = (126, 127)
_KILLED_CODES = (130, 137, 143)
_LOOKED_AT = 50_000  # characters at each end of an output


def environment_failure_of(run: CheckRun, command: str, edited: Sequence[str] = ()) -> Trouble | None:
    """The reason why a repair of the work would not help. None if the work is to blame, or if the check passed."""
    output = _COLOURS.sub("", _ends_of(run.output))
    if run.ended == 0 or _TESTS_FAILED.search(output):
        return None
    if isinstance(run.ended, str):
        return run.ended
    by_code = _by_code(run.ended, command)
    return by_code or _missing_module(output, edited) or _by_output(run.ended, output, command)


def _ends_of(output: str) -> str:
    """The beginning and the end of the output, where test runners report and summarise. Searching megabytes would be
    slow."""
    return output if len(output) <= 2 * _LOOKED_AT else f"{output[:_LOOKED_AT]}\n{output[-_LOOKED_AT:]}"


def _by_code(code: int, command: str) -> Trouble | None:
    if code in _TOOL_CODES:
        return "tool missing"
    if code in _KILLED_CODES:
        return "killed"
    return "no tests" if command == "pytest -q" and code == _NO_TESTS_CODE else None


def _missing_module(output: str, edited: Sequence[str]) -> Trouble | None:
    """A missing module of the project itself is a fault of the work, and no Trouble."""
    missing = [found[1] or found[2] or found[3] for found in _MODULE.finditer(output)]
    if not missing or any(_is_own(name, _parts_of(edited)) for name in missing):
        return None
    return "tool missing" if missing == ["pytest"] else "module missing"


def _is_own(module: str, edited: Collection[str]) -> bool:
    if module.startswith((".", "/", "@/", "~/")):
        return True
    return re.split(r"[./]", module)[0] in edited


def _parts_of(edited: Sequence[str]) -> set[str]:
    return {part for path in edited for part in splitext(path)[0].split("/")}


def _by_output(code: int, output: str, command: str) -> Trouble | None:
    if _MODULE.search(output):
        return None
    found: Trouble | None = next((trouble for trouble, sign in _SIGNS if sign.search(output)), None)
    if found is None and command == "pytest -q" and code == _USAGE_CODE and "conftest" not in output:
        return "wrong use"
    return found


_FAILED = re.compile(
    r"^(?:FAILED|ERROR) (\S+)"  # pytest
    r"|^[ \t]*--- FAIL: (\S+)"  # go
    r"|^test (\S+) \.\.\. FAILED"  # cargo
    r"|^not ok \d+ (?:- )?([^#\n]+)"  # tap, node
    r"|^[ \t]*● ([^\n]*›[^\n]+)"  # jest
    r"|^[ \t]*(?:FAIL|×)[ \t]+([^\n]*>[^\n]+)",  # vitest
    re.MULTILINE,
)


def failed_tests(output: str) -> frozenset[str]:
    """The names of the failed tests that an output lists; empty if it lists none."""
    found = _FAILED.finditer(_COLOURS.sub("", output[-_LOOKED_AT:]))
    return frozenset(name.strip() for each in found for name in each.groups() if name)


def failed_before(calls: Iterable[CallState], in_turn: Iterable[CallState], check: str) -> frozenset[str]:
    """The tests that failed in the last run before the turn's first edit. Any command that lists failed tests counts
    as a run; the check itself also counts if it passed. Empty if no run is known."""
    first_edit = next((each for each in in_turn if each.judged.need.kind == "edit"), None)
    known: frozenset[str] = frozenset()
    for each in calls:
        if first_edit is not None and each.call.id == first_edit.call.id:
            break
        command = each.judged.need.command
        if command is None or each.forgotten:
            continue
        match each.outcome:
            case Failed(message=message):
                known = failed_tests(message) or known
            case Finished() if command.strip() == check and not each.outcome.exit_code:
                known = frozenset()
            case Finished(output=output):
                known = failed_tests(output) or known
            case _:
                pass
    return known
