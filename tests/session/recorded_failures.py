"""For each wrong rule, the moves in which a search has found it, kept as one file per rule.

A file holds the choices of one failing example in the form that `hypothesis.reproduce_failure` takes. `make mutants`
writes all files anew: after a change of the machine's moves, or of the version of hypothesis.
"""

import re
from importlib.metadata import version
from pathlib import Path

from hypothesis import reproduce_failure, settings
from hypothesis.errors import DidNotReproduce
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

FOLDER = Path(__file__).parent / "recorded_failures"
_NOTE = re.compile(r"@reproduce_failure\('[^']*', b'([^']*)'\)")


def replay(machine: type[RuleBasedStateMachine], name: str, how: settings) -> None:
    """Raises what the moves break."""
    choices = (FOLDER / name).read_bytes().strip()
    try:
        run_state_machine_as_test(reproduce_failure(version("hypothesis"), choices)(machine), settings=how)
    except DidNotReproduce as error:
        raise AssertionError(f"{name} is found by other moves now: run `make mutants`") from error


def record(name: str, failure: BaseException) -> None:
    """Keep the moves that hypothesis has noted on the failure."""
    found = _NOTE.search("\n".join(failure.__notes__))
    assert found is not None, failure.__notes__
    (FOLDER / name).write_text(found[1] + "\n")


def names() -> set[str]:
    return {path.name for path in FOLDER.iterdir()}
