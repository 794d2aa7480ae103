"""A turn undone, as the log tells it: what can be undone next, and what the model still knows."""

import pytest

from coderelay.protocol.calls import Finished
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import AnyEvent, TreeTaken, TurnUndone
from coderelay.protocol.ids import TurnId
from coderelay.protocol.message_content import Note
from coderelay.session import decide
from coderelay.session.model_messages import UserMessage, transcript
from tests.session.played_session import ANNE, Play
from tests.session.proposed_calls import allowed

pytestmark = pytest.mark.quick


def turn(play: Play, prompt: str, *, tree: str = "", problem: str = "", call: str = "") -> TurnId:
    play.prompt(prompt)
    play.claim()
    assert play.state.turn is not None
    turn_id = play.state.turn.started.turn_id
    if call:
        play.message(allowed(call))
    if tree or problem:
        taken: list[AnyEvent] = [TreeTaken(turn_id=turn_id, tree=tree, problem=problem)]
        play.write(taken, epoch=play.state.epoch)
    if call:
        play.end_call(call, Finished("ok"))
    play.message()
    return turn_id


def undo(play: Play) -> TurnId:
    last = decide.undoable(play.state)
    events = decide.undone(play.state, TurnUndone(turn_id=last.turn_id, by=ANNE))
    play.write(events)
    return last.turn_id


def test_c30_the_latest_turn_is_undone_first_and_then_the_one_before() -> None:
    play = Play()
    first, second = turn(play, "one", tree="t1", call="c1"), turn(play, "two", tree="t2", call="c2")
    assert [undo(play), undo(play)] == [second, first]
    with pytest.raises(BadInput, match="nothing to undo"):
        decide.undoable(play.state)
    assert transcript(play.state) == []


def test_c30_what_is_known_of_the_files_of_a_turn() -> None:
    play = Play()
    turn(play, "one", tree="t1", call="c1")
    turn(play, "two", problem="no repository", call="c2")
    turn(play, "three")
    known = [(past.prompt, past.before, past.problem) for past in play.state.past]
    assert known == [("one", "t1", ""), ("two", "", "no repository"), ("three", "", "")]


def test_c30_the_conversation_goes_on_before_the_turn() -> None:
    play = Play()
    turn(play, "one")
    before = transcript(play.state)
    turn(play, "two", tree="t", call="c1")
    undo(play)
    assert transcript(play.state) == before
    play.prompt("three")
    play.claim()
    assert transcript(play.state) == [*before, UserMessage("three")]


def test_c30_nothing_is_undone_while_a_turn_runs_or_is_about_to() -> None:
    play = Play()
    turn(play, "one")
    play.prompt("two")
    with pytest.raises(BadInput, match="a turn is running; stop it before undoing one"):
        decide.undoable(play.state)
    play.claim()
    with pytest.raises(BadInput, match="a turn is running; stop it before undoing one"):
        decide.undoable(play.state)
    last = play.state.past[-1]
    assert decide.undone(play.state, TurnUndone(turn_id=last.turn_id, by=ANNE)) == []


def test_c30_an_undo_that_comes_second_writes_nothing() -> None:
    play = Play()
    turn(play, "one")
    event = TurnUndone(turn_id=play.state.past[-1].turn_id, by=ANNE)
    assert decide.undone(play.state, event) == [event]
    play.write([event])
    assert decide.undone(play.state, event) == []


def test_c30_a_turn_that_was_summed_up_leaves_the_summary_as_it_is() -> None:
    play = Play()
    turn(play, "one", tree="t", call="c1")
    play.compact_history()
    play.claim()
    play.compact("all is well")
    summed_up = transcript(play.state)
    undo(play)
    assert transcript(play.state) == summed_up


def test_c30_a_summary_is_no_turn_that_can_be_undone() -> None:
    play = Play()
    turn_id = turn(play, "one")
    play.compact_history()
    play.claim()
    play.compact("all is well")
    assert [past.turn_id for past in play.state.past] == [turn_id]


def test_what_was_told_in_an_undone_turn_must_be_told_again() -> None:
    play = Play()
    turn(play, "one")
    play.prompt("two")
    play.claim()
    play.message(notes=(Note("mode", "yolo"),))
    assert play.state.told == {"mode": "yolo"}
    undo(play)
    assert play.state.told == {}
