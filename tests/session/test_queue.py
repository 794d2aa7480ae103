"""Prompts that wait: edited, taken back, or taken into the open turn to steer it."""

import pytest

from coderelay.protocol.calls import Finished
from coderelay.protocol.events import PromptAdmitted, PromptEdited, PromptTaken, TurnStarted
from coderelay.protocol.ids import PromptId
from coderelay.protocol.message_content import Image
from coderelay.session.model_messages import UserMessage, transcript
from coderelay.session.next_action import Rest, StartTurn, next_action
from tests.session.played_session import ANNE, BEN, Play
from tests.session.proposed_calls import allowed, asked

pytestmark = pytest.mark.quick

PICTURE = Image("image/png", "AAAA")


def running() -> Play:
    play = Play()
    play.prompt("go", "p1")
    play.claim()
    return play


def waiting(play: Play) -> list[tuple[str, str]]:
    assert play.row is not None
    assert play.row.queued == len(play.state.queue)
    return [(each.prompt_id, each.text) for each in play.state.queue]


def test_x08_steering_joins_the_open_turn_in_its_order_and_leaves_the_rest() -> None:
    play = running()
    turn = play.state.turn
    assert turn is not None
    for name, steer in (("p2", True), ("p3", False), ("p4", True)):
        play.prompt(f"do {name}", name, steer=steer)
    assert [each.event for each in play.take_steering()] == [
        PromptTaken(prompt_id=PromptId("p2"), turn_id=turn.started.turn_id, text="do p2"),
        PromptTaken(prompt_id=PromptId("p4"), turn_id=turn.started.turn_id, text="do p4"),
    ]
    assert waiting(play) == [("p3", "do p3")]
    assert play.take_steering() == []
    assert transcript(play.state) == [UserMessage("go\n\ndo p2\n\ndo p4")]


def test_x08_steering_stands_behind_the_results_of_the_step_before() -> None:
    play = running()
    play.message(allowed("c1"))
    play.prompt("rather", steer=True)
    play.end_call("c1", Finished("ok"))
    play.take_steering()
    assert transcript(play.state)[-1] == UserMessage("rather")


def test_x12_a_turn_that_is_stopped_is_not_steered_any_more() -> None:
    play = running()
    play.stop()
    play.prompt("rather", "p2", steer=True)
    assert play.take_steering() == []
    play.close("stopped")
    assert (waiting(play), next_action(play.state)) == ([("p2", "rather")], StartTurn())


def test_c28_the_making_of_a_summary_is_not_steered() -> None:
    play = Play()
    play.compact_history()
    play.claim()
    play.prompt("rather", "p2", steer=True)
    assert play.take_steering() == []
    play.compact()
    assert waiting(play) == [("p2", "rather")]


def test_x08_steering_that_meets_no_turn_gets_one_of_its_own() -> None:
    play = running()
    play.prompt("rather", "p2", steer=True)
    play.message()
    started = play.claim()[1].event
    assert isinstance(started, TurnStarted)
    assert (started.prompt_id, started.text) == ("p2", "rather")


def test_x08_an_edited_prompt_keeps_its_place_and_runs_with_its_last_words() -> None:
    play = running()
    for name in ("p2", "p3"):
        play.prompt(name, name, max_steps=5, images=(PICTURE,))
    assert [each.event for each in play.edit("p2", "better", BEN)] == [
        PromptEdited(prompt_id=PromptId("p2"), text="better", by=BEN)
    ]
    play.edit("p2", "best")
    assert play.state.queue[0] == PromptAdmitted(
        prompt_id=PromptId("p2"), text="best", by=BEN, max_steps=5, images=(PICTURE,)
    )
    assert waiting(play) == [("p2", "best"), ("p3", "p3")]
    play.message()
    started = play.claim()[1].event
    assert isinstance(started, TurnStarted)
    assert (started.text, started.max_steps) == ("best", 5)
    assert transcript(play.state)[-1] == UserMessage("best", (PICTURE,))


def test_a_turn_works_for_everybody_who_wrote_its_prompt() -> None:
    play = running()
    for name, editors in (("p2", (ANNE,)), ("p3", (BEN, ANNE)), ("p4", (BEN,))):
        play.prompt(name, name)
        for number, by in enumerate(editors):
            play.edit(name, f"better {number}", by)
    people: list[tuple[str, ...]] = []
    for _ in range(3):
        play.message()
        play.claim()
        assert play.state.turn is not None
        assert play.state.turn.started.by is not None
        people.append((play.state.turn.started.by.who, *play.state.people))
    assert people == [("anne", "anne"), ("anne", "anne", "ben"), ("ben", "ben", "anne")]
    assert play.state.earlier_authors == {}


def test_steering_that_somebody_edits_brings_both_people_into_the_turn() -> None:
    play = running()
    play.prompt("rather", "p2", steer=True)
    play.edit("p2", "never mind", BEN)
    play.take_steering()
    assert play.state.people == ("anne", "ben")


def test_x08_steering_is_taken_with_its_last_words() -> None:
    play = running()
    play.prompt("rather", "p2", steer=True, images=(PICTURE,))
    play.edit("p2", "never mind")
    play.take_steering()
    assert transcript(play.state) == [UserMessage("go\n\nnever mind", (PICTURE,))]


def test_x08_what_has_begun_was_taken_or_taken_back_is_not_edited() -> None:
    play = running()
    play.prompt("rather", "p2", steer=True)
    play.take_steering()
    play.prompt("more", "p3")
    play.recall("p3")
    play.compact_history("p4")
    for name in ("p1", "p2", "p3", "p4", "never sent"):
        assert play.edit(name, "something else") == []
    play.prompt("same", "p5")
    assert play.edit("p5", "same") == []
    assert waiting(play) == [("p4", "/compact"), ("p5", "same")]


def test_x08_what_was_taken_is_not_taken_back_and_not_sent_again() -> None:
    play = running()
    play.prompt("rather", "p2", steer=True)
    play.take_steering()
    assert play.recall("p2") == play.prompt("rather", "p2", steer=True) == []


def test_a_prompt_that_is_taken_back_takes_its_images_along() -> None:
    play = running()
    play.prompt("look", "p2", images=(PICTURE,))
    play.recall("p2")
    assert play.state.images == {}


def test_x12_an_edit_does_not_wake_what_a_stop_holds() -> None:
    play = running()
    play.prompt("more", "p2")
    play.stop()
    play.close("stopped")
    play.edit("p2", "even more")
    assert next_action(play.state) == Rest()


@pytest.mark.parametrize("steer", [False, True])
def test_d06_a_prompt_is_no_answer_and_waits_until_there_is_one(steer: bool) -> None:
    play = running()
    play.message(asked("c1"))
    play.prompt("more", "p2", steer=steer)
    assert (waiting(play), play.state.phase) == ([("p2", "more")], "waiting")
