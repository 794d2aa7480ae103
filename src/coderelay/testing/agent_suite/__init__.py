"""A conformance suite for agents: every Agent must pass all of these checks, whether it blocks or not.

    @pytest.mark.parametrize("check", CHECKS, ids=name)
    def test_it_is_an_agent(check: Check, tmp_path: Path) -> None:
        run(check, Subject("mine", open_process, folder=str(tmp_path), speaks="say hello", writes="write the file"))

`open_process` opens a Client with the agent. All clients that it opens share one log, like separate processes. With
the prompt `speaks` the agent makes no call. With `writes` it makes one call, about which a person is asked in mode
`default`; the call writes the file `made` in the folder, and then the agent ends its turn. A check raises
AssertionError.
"""

from coderelay.testing.agent_suite.check_framework import CHECKS as CHECKS
from coderelay.testing.agent_suite.check_framework import Check as Check
from coderelay.testing.agent_suite.check_framework import OpenProcess as OpenProcess
from coderelay.testing.agent_suite.check_framework import Subject as Subject
from coderelay.testing.agent_suite.check_framework import name as name
from coderelay.testing.agent_suite.check_framework import run as run
from coderelay.testing.agent_suite.turn_call_and_ask_checks import (
    a_call_starts_only_when_it_is_allowed as a_call_starts_only_when_it_is_allowed,
)
from coderelay.testing.agent_suite.turn_call_and_ask_checks import (
    a_denied_call_has_no_effect as a_denied_call_has_no_effect,
)
from coderelay.testing.agent_suite.turn_call_and_ask_checks import (
    a_stop_ends_a_turn_that_waits as a_stop_ends_a_turn_that_waits,
)
from coderelay.testing.agent_suite.turn_call_and_ask_checks import a_turn_ends_once as a_turn_ends_once
from coderelay.testing.agent_suite.turn_call_and_ask_checks import (
    an_answer_from_another_process_counts as an_answer_from_another_process_counts,
)
from coderelay.testing.agent_suite.turn_call_and_ask_checks import (
    an_ask_outlives_the_process_that_asked as an_ask_outlives_the_process_that_asked,
)
from coderelay.testing.agent_suite.turn_call_and_ask_checks import (
    what_happens_is_one_message as what_happens_is_one_message,
)
