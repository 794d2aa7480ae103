"""Whatever persons and owners do, in whatever order, the promises hold; and the machine can tell.

What is checked, by id: the state is what the log says and nothing else (D-04), the batch pauses whole
(D-02, D-06), resumes once and in order (D-01, D-03, D-07, D-12), one denial leaves the rest (D-22),
results precede the model (D-08, D-13), nothing stays pending (D-18), a started call is never repeated
(X-25), a stop holds the queue (X-12), prompts queue (X-08). Of calls: those that only read and stand next to each
other start in one append and run at the same time, nothing else runs beside another call, nothing starts while one
still runs, starts and ends keep the message's order (C-13, D-03). Of asks: only what fits is an answer (X-37), a
question or a plan never runs and its answer is its result, a call that asks again waits and starts anew only
with a new answer (D-11), a plan is asked about before its turn ends, decided in one append and once (A-62, X-22),
what nobody answers is denied (X-05), an approval covers exactly what was approved (D-20). Of prompts: each is
once started, taken or recalled, or waits; one that steers joins between two steps, in order, and runs with its last
words (X-08). Of summaries: what follows is a valid history, what was told is told again, a turn that is there for
one ends with it (C-11, C-28). What was spent adds up; a budget asks once and goes on once. Of undoing: the last turn
that is over goes first, none while one is open, and the model knows nothing of it then (C-30). Of commands in the
background: each has a number of its own and ends once, whoever owns the session; a claim says which are gone (D-17).
Of agents that block (X-24): the owner stays while an ask is held, a batch grows and is resumed once for each time it
waited, nothing starts that nobody allowed, a claim ends what was left, and what was allowed and never ran is allowed
once more in that turn, and nothing else. Of messages that an agent hands in as its program emitted them (B-56): each
is kept once in a turn, and exactly what stands in one is not shown a second time. Of owners that leave a blocking
turn (X-04, X-05): only when nobody is expected to answer and nothing runs, and the answers still count. Of settings
that wait, cleared histories and deadlines (A-59, X-05, X-20): what tightens counts at once and the rest when the turn
ends, a history is cleared between turns and the model then knows nothing of it, and an ask that nobody answers does
what it says.
"""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.session import recorded_failures
from tests.session.ask_checks import BrokenPromise
from tests.session.asking_mutants import ASKING_MUTANTS
from tests.session.background_mutants import BACKGROUND_MUTANTS
from tests.session.blocking_agent_moves import BlockingMachine
from tests.session.blocking_mutants import BLOCKING_MUTANTS
from tests.session.mutants import MUTANTS, Mutant
from tests.session.parking_mutants import PARKING_MUTANTS
from tests.session.parking_owner_moves import ParkingMachine
from tests.session.prompt_mutants import PROMPT_MUTANTS
from tests.session.reading_mutants import READING_MUTANTS
from tests.session.settings_moves import SettingsMachine
from tests.session.settings_mutants import SETTINGS_MUTANTS
from tests.session.spending_mutants import SPENDING_MUTANTS
from tests.session.state_machine import SessionMachine
from tests.session.undo_mutants import UNDO_MUTANTS
from tests.session.verbatim_agent_moves import VerbatimMachine
from tests.session.verbatim_mutants import VERBATIM_MUTANTS

_EXAMPLES = 1000
_ANY = settings(deadline=None, report_multiple_bugs=False)
_FIXED = settings(_ANY, derandomize=True, database=None)
_SEARCHED = settings(_FIXED, stateful_step_count=60)


# A failure is made as short as possible before it is told, which may take minutes.
pytestmark = pytest.mark.timeout(600)
_SEARCH = pytest.mark.skipif(
    "CODER_SOAK" not in os.environ, reason="a search takes minutes: `make soak` and `make mutants`"
)


@pytest.mark.quick
def test_a62_c11_c28_d02_d03_d11_d18_d22_x05_x08_x12_x22_x25_x37_promises_hold_in_any_order_of_moves() -> None:
    run_state_machine_as_test(SessionMachine, settings=settings(_FIXED, max_examples=25, stateful_step_count=50))


@_SEARCH
def test_a62_c11_c28_d02_d03_d11_d18_d22_x05_x08_x12_x22_x25_x37_promises_hold_in_many_more_orders_of_moves() -> None:
    run_state_machine_as_test(SessionMachine, settings=settings(_ANY, max_examples=_EXAMPLES, stateful_step_count=70))


def test_d02_d03_d18_d22_x12_x24_x25_promises_hold_for_an_agent_that_blocks() -> None:
    run_state_machine_as_test(BlockingMachine, settings=settings(_FIXED, max_examples=12, stateful_step_count=50))


@_SEARCH
def test_d02_d03_d18_d22_x12_x24_x25_promises_hold_for_an_agent_that_blocks_in_many_more_orders_of_moves() -> None:
    many = settings(_ANY, max_examples=_EXAMPLES, stateful_step_count=70)
    run_state_machine_as_test(BlockingMachine, settings=many)


def test_b56_promises_hold_for_an_agent_that_hands_in_its_own_messages() -> None:
    run_state_machine_as_test(VerbatimMachine, settings=settings(_FIXED, max_examples=12, stateful_step_count=50))


@_SEARCH
def test_b56_promises_hold_for_an_agent_that_hands_in_its_own_messages_in_many_more_orders_of_moves() -> None:
    many = settings(_ANY, max_examples=_EXAMPLES, stateful_step_count=70)
    run_state_machine_as_test(VerbatimMachine, settings=many)


def test_x04_x05_x24_promises_hold_for_owners_that_leave_a_blocking_turn() -> None:
    run_state_machine_as_test(ParkingMachine, settings=settings(_FIXED, max_examples=12, stateful_step_count=50))


@_SEARCH
def test_x04_x05_x24_promises_hold_for_owners_that_leave_a_blocking_turn_in_many_more_orders_of_moves() -> None:
    many = settings(_ANY, max_examples=_EXAMPLES, stateful_step_count=70)
    run_state_machine_as_test(ParkingMachine, settings=many)


def test_a59_x20_promises_hold_with_settings_that_wait_and_cleared_histories() -> None:
    run_state_machine_as_test(SettingsMachine, settings=settings(_FIXED, max_examples=15, stateful_step_count=60))


@_SEARCH
def test_a59_x20_promises_hold_with_settings_that_wait_in_many_more_orders_of_moves() -> None:
    many = settings(_ANY, max_examples=_EXAMPLES, stateful_step_count=70)
    run_state_machine_as_test(SettingsMachine, settings=many)


ALL_MUTANTS = [
    *MUTANTS,
    *READING_MUTANTS,
    *ASKING_MUTANTS,
    *PROMPT_MUTANTS,
    *SPENDING_MUTANTS,
    *UNDO_MUTANTS,
    *BACKGROUND_MUTANTS,
    *BLOCKING_MUTANTS,
    *SETTINGS_MUTANTS,
    *VERBATIM_MUTANTS,
    *PARKING_MUTANTS,
]
any_mutant = pytest.mark.parametrize("mutant", ALL_MUTANTS, ids=lambda mutant: mutant.__name__)


@any_mutant
def test_the_machine_notices_a_wrong_rule(mutant: type[Mutant]) -> None:
    """Replays the moves that were recorded when a search found the fault, so that no search is needed."""
    with pytest.raises(BrokenPromise, match=mutant.breaks):
        recorded_failures.replay(_machine_of(mutant), mutant.__name__, _SEARCHED)


@_SEARCH
@pytest.mark.timeout(3600)
@any_mutant
def test_a_random_search_finds_a_wrong_rule(mutant: type[Mutant]) -> None:
    until_it_fails = settings(
        _SEARCHED,
        max_examples=2000,
        phases=(Phase.generate,),
        print_blob=True,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much),
    )
    with pytest.raises(BrokenPromise, match=mutant.breaks) as failure:
        run_state_machine_as_test(_machine_of(mutant), settings=until_it_fails)
    if os.environ["CODER_SOAK"] == "record":
        recorded_failures.record(mutant.__name__, failure.value)


def test_no_recorded_failure_is_left_over() -> None:
    assert recorded_failures.names() == {mutant.__name__ for mutant in ALL_MUTANTS}


def _machine_of(mutant: type[Mutant]) -> type[SessionMachine]:
    class MutantMachine(SessionMachine):
        played_by = mutant

    class BlockingMutantMachine(BlockingMachine):
        played_by = mutant

    class SettingsMutantMachine(SettingsMachine):
        played_by = mutant

    class VerbatimMutantMachine(VerbatimMachine):
        played_by = mutant

    class ParkingMutantMachine(ParkingMachine):
        played_by = mutant

    if mutant in PARKING_MUTANTS:
        return ParkingMutantMachine
    if mutant in SETTINGS_MUTANTS:
        return SettingsMutantMachine
    if mutant in VERBATIM_MUTANTS:
        return VerbatimMutantMachine
    return BlockingMutantMachine if mutant in BLOCKING_MUTANTS else MutantMachine
