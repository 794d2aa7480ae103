"""The exit codes of `coder -p`."""

from coderelay.protocol.events import (
    Ending,
)

DONE, FAILED, USAGE, DENIED, STEP_LIMIT, PARKED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
ENDINGS: dict[Ending, int] = {"done": DONE, "failed": FAILED, "step_limit": STEP_LIMIT, "stopped": INTERRUPTED}


class RunState:
    """What a run did itself, from which its exit code follows.

    `refused`: something was denied because nobody could answer. `over_budget`: it was the request for more money.
    `stopped`: the person interrupted the run.
    """

    refused = False
    over_budget = False
    stopped = False

    def exit_code(self, ending: Ending) -> int:
        code = ENDINGS[ending]
        by_us = code == DONE or (code == INTERRUPTED and not self.stopped)
        return DENIED if by_us and self.refused else code
