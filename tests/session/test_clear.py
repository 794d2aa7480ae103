"""A history that is cleared, as the log tells it: what the model forgets, and what stays."""

from itertools import groupby

import pytest

from coderelay.protocol.calls import Finished, Seen
from coderelay.protocol.commands import ClearHistory
from coderelay.protocol.errors import BadInput, UnknownSession
from coderelay.protocol.events import HistoryCleared, Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.message_content import Image, Note
from coderelay.session import decide
from coderelay.session.model_messages import Transcript, UserMessage, transcript
from coderelay.session.openai_chat_format import snapshot
from coderelay.session.state import State
from tests.session.ask_checks import BrokenPromise
from tests.session.comparable_summary import of_row, of_state
from tests.session.played_session import ANNE, SESSION, Play
from tests.session.promise_checker import Checker
from tests.session.proposed_calls import allowed
from tests.session.test_undo import turn, undo

pytestmark = pytest.mark.quick

CLEAR = ClearHistory(session=SESSION, by=ANNE)


def clear(play: Play) -> list[Recorded]:
    return play.write(decide.clear(play.state, CLEAR))


def read_by_page(play: Play) -> Checker:
    checker = Checker()
    for _, page in groupby(play.log, lambda each: each.at):  # every append has a time of its own
        checker.see([*page])
    return checker


def played() -> Play:
    """A turn in which the model was told something and saw a file."""
    play = Play(mode="yolo")
    play.prompt("one", images=(Image("image/png", "AAAA"),))
    play.claim()
    play.message(allowed("c1"), notes=(Note("mode", "yolo"),))
    play.end_call("c1", Finished("text", seen=(Seen("a.py", "1"),)))
    play.message()
    return play


def test_a59_the_model_begins_anew_and_knows_nothing() -> None:
    play = played()
    grown = Transcript()
    grown.update(play.state)
    assert [type(each.event) for each in clear(play)] == [HistoryCleared]
    assert (transcript(play.state), grown.update(play.state)) == ([], [])
    assert (play.state.told, play.state.seen, play.state.images, play.state.context_tokens) == ({}, {}, {}, 0)
    assert snapshot(play.state, (), "")["messages"] == []
    play.prompt("two")
    play.claim()
    assert transcript(play.state) == grown.update(play.state) == [UserMessage("two")]


def test_a59_what_is_computed_from_the_log_agrees() -> None:
    play = played()
    clear(play)
    assert play.read_again(play.log) == play.state
    assert play.row is not None
    assert of_row(play.row, play.log) == of_state(play.state)
    checker = read_by_page(play)
    assert (checker.told.entries, checker.told.notes, checker.told.seen) == ([], {}, {})


def test_a59_turns_before_it_can_still_be_undone_and_those_after_it_too() -> None:
    play = Play()
    first = turn(play, "one", tree="t1", call="c1")
    clear(play)
    second = turn(play, "two", tree="t2", call="c2")
    assert undo(play) == second
    assert transcript(play.state) == []
    assert undo(play) == first
    assert play.state.past == []


def test_a59_it_is_refused_while_a_turn_is_open_and_the_queue_stays() -> None:
    play = played()
    play.prompt("two", images=(Image("image/png", "BBBB"),))
    clear(play)
    assert [each.text for each in play.state.queue] == ["two"]
    assert len(play.state.images) == 1
    play.claim()
    with pytest.raises(BadInput, match="a turn is running; stop it before clearing the context"):
        decide.clear(play.state, CLEAR)


def test_a59_an_empty_history_is_cleared_by_nothing() -> None:
    play = Play()
    assert decide.clear(play.state, CLEAR) == []
    with pytest.raises(UnknownSession):
        decide.clear(State(SessionId("none")), CLEAR)


def test_the_checker_notices_a_history_that_is_cleared_in_an_open_turn() -> None:
    play = Play()
    play.prompt("one")
    play.claim()
    play.write([HistoryCleared(by=ANNE)])
    with pytest.raises(BrokenPromise, match="while a turn is open"):
        read_by_page(play)
