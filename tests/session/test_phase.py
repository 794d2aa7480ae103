"""The states of a session (B-52, the table of 1.7) and how they become the four of the event contract (X-02)."""

import sqlite3
from collections.abc import Callable
from typing import get_args

import pytest

from coderelay.protocol.asks import Allow, Answers, Deny, DenyAndStop, PlanDecision
from coderelay.protocol.calls import Finished
from coderelay.protocol.projected_rows import Phase
from coderelay.store.sqlite.migrations import migrate
from tests.session.played_session import Play
from tests.session.proposed_calls import asked, questions

pytestmark = pytest.mark.quick

Moves = tuple[Callable[[Play], object], ...]

RUNNING: Moves = (lambda play: play.prompt("go"), lambda play: play.claim())
WAITING: Moves = (*RUNNING, lambda play: play.message(asked("c1"), asked("c2")))
RESUMED: Moves = (*WAITING, lambda play: play.answer("c1", Allow()), lambda play: play.answer("c2", Deny()))
DONE: Moves = (*RUNNING, lambda play: play.message())
FAILED: Moves = (*RUNNING, lambda play: play.close("failed", "no such model"))
STEP_LIMIT: Moves = (*RUNNING, lambda play: play.close("step_limit", "step limit reached"))
STOPPED: Moves = (*RUNNING, lambda play: play.stop(), lambda play: play.close("stopped"))
QUESTION: Moves = (*RUNNING, lambda play: play.message(questions("c1")))
PLANNED: Moves = (lambda play: play.configure(mode="plan"), *DONE)
ASKED_AGAIN: Moves = (*RESUMED, lambda play: play.claim("B"), lambda play: play.ask_again("c1"))

SUMMARY: Moves = (*DONE, lambda play: play.compact_history(), lambda play: play.claim())
OVER_BUDGET: Moves = (
    *RUNNING,
    lambda play: play.message(final=False, cost=1.0),
    lambda play: play.pause_for_ask(1.0),
)

STATES: list[tuple[Moves, Phase]] = [
    ((), "idle"),
    (RUNNING[:1], "idle"),  # accepted, and its turn has yet to start
    (RUNNING, "running"),
    (DONE, "done"),
    ((*RUNNING, lambda play: play.message(stop_reason="max_tokens")), "done"),
    ((*RUNNING, lambda play: play.message(stop_reason="refusal")), "done"),
    (FAILED, "failed"),
    (STEP_LIMIT, "failed"),
    ((*RUNNING, lambda play: play.stop()), "running"),
    (STOPPED, "stopped"),
    (WAITING, "waiting"),
    ((*WAITING, lambda play: play.answer("c1", Allow())), "waiting"),
    (RESUMED, "running"),
    ((*RESUMED, lambda play: play.claim("B")), "running"),
    ((*RESUMED, lambda play: play.claim("B"), lambda play: play.end_call("c1", Finished("ok"))), "running"),
    ((*WAITING, lambda play: play.stop(), lambda play: play.claim()), "stopped"),
    ((*WAITING, lambda play: play.answer("c2", DenyAndStop()), lambda play: play.claim()), "stopped"),
    (QUESTION, "waiting"),
    ((*QUESTION, lambda play: play.answer("c1", Answers({"Which colour?": "Red"}))), "running"),
    (PLANNED, "waiting"),
    ((*PLANNED, lambda play: play.answer_turn(PlanDecision("keep"))), "done"),
    ((*PLANNED, lambda play: play.answer_turn(PlanDecision("smart"))), "done"),
    ((*PLANNED, lambda play: play.answer_turn(Deny())), "done"),
    ((*PLANNED, lambda play: play.answer_turn(DenyAndStop()), lambda play: play.claim()), "stopped"),
    (ASKED_AGAIN, "waiting"),
    ((*ASKED_AGAIN, lambda play: play.answer("c1", Allow())), "running"),
    ((*ASKED_AGAIN, lambda play: play.stop(), lambda play: play.claim()), "stopped"),
    (SUMMARY, "running"),
    ((*SUMMARY, lambda play: play.compact()), "done"),
    ((*SUMMARY, lambda play: play.close("failed", "no network")), "failed"),
    ((*RUNNING, lambda play: play.compact()), "running"),
    (OVER_BUDGET, "waiting"),
    ((*OVER_BUDGET, lambda play: play.answer_turn(Allow())), "running"),
    ((*OVER_BUDGET, lambda play: play.answer_turn(Deny())), "running"),
    ((*OVER_BUDGET, lambda play: play.answer_turn(Deny()), lambda play: play.claim("B")), "stopped"),
    ((*DONE, *RUNNING), "running"),
    ((*FAILED, *RUNNING), "running"),
    ((*STEP_LIMIT, *RUNNING), "running"),
    ((*STOPPED, *RUNNING), "running"),
]


def played(moves: Moves) -> Play:
    play = Play()
    for move in moves:
        move(play)
    return play


@pytest.mark.parametrize(("moves", "phase"), STATES)
def test_b52_d05_x12_the_states_and_what_leads_to_them(moves: Moves, phase: Phase) -> None:
    play = played(moves)
    assert play.row is not None
    assert (play.state.phase, play.row.phase) == (phase, phase)


@pytest.mark.parametrize(
    "moves", [(), RUNNING, WAITING, RESUMED, PLANNED, ASKED_AGAIN, SUMMARY, OVER_BUDGET, DONE, FAILED, STOPPED]
)
def test_b52_any_session_can_be_deleted(moves: Moves) -> None:
    play = played(moves)
    play.delete()
    assert (play.state.phase, play.row) == ("deleted", None)


ANSWERED: list[Moves] = [
    RESUMED,
    (*QUESTION, lambda play: play.answer("c1", Answers({"Which colour?": "Red"}))),
    (*PLANNED, lambda play: play.answer_turn(PlanDecision("feedback", "use tabs"))),
    (*ASKED_AGAIN, lambda play: play.answer("c1", Allow())),
    (*OVER_BUDGET, lambda play: play.answer_turn(Allow())),
]


@pytest.mark.parametrize("moves", ANSWERED)
def test_d18_nothing_stays_pending_after_the_last_answer(moves: Moves) -> None:
    play = played(moves)
    assert play.row is not None
    assert (play.state.open_asks(), play.row.open_asks) == ([], 0)


def test_x02_the_four_states_of_the_event_contract_are_computed() -> None:
    database = sqlite3.connect(":memory:", isolation_level=None)
    migrate(database, ":memory:")
    row = "INSERT INTO sessions (id, title, cwd, allowed_tools, last_prompt, created_at, updated_at, phase, summary)"
    for phase in get_args(Phase):
        database.execute(f"{row} VALUES (?, '', '', '', '', 0, 0, ?, '')", (phase, phase))
    statuses = dict(database.execute("SELECT phase, status FROM sessions").fetchall())
    database.close()
    assert statuses == {
        "idle": "idle",
        "running": "running",
        "waiting": "running",
        "done": "completed",
        "failed": "error",
        "stopped": "idle",
        "deleted": "idle",  # never stored: a deleted session has no row
    }
