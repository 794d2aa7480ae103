"""Which tests failed, and which of them failed before the turn changed anything."""

import re
from collections.abc import Iterable

from coderelay.protocol.calls import Failed, Finished
from coderelay.session.state import CallState

_FAILED = re.compile(
    r"^(?:FAILED|ERROR) (\S+)"  # pytest
    r"|^[ \t]*--- FAIL: (\S+)"  # go
    r"|^test (\S+) \.\.\. FAILED"  # cargo
    r"|^not ok \d+ (?:- )?([^#\n]+)"  # tap, node
    r"|^[ \t]*● ([^\n]*›[^\n]+)"  # jest
    r"|^[ \t]*(?:FAIL|×)[ \t]+([^\n]*>[^\n]+)",  # vitest
    re.MULTILINE,
)
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LOOKED_AT = 50_000  # characters at the end of an output, where test runners list what failed


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
