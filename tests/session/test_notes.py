"""What a model is told besides the conversation. What was sent is found again in the log, byte for byte."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coderelay.protocol.calls import Finished, Seen
from coderelay.protocol.message_content import Block, Image, Note, Text, Thinking
from coderelay.session.model_messages import (
    AssistantMessage,
    Message,
    Transcript,
    UserMessage,
    transcript,
    with_notes,
)
from tests.session.ask_checks import BrokenPromise
from tests.session.model_message_checks import check_continued
from tests.session.played_session import Play
from tests.session.proposed_calls import allowed

pytestmark = pytest.mark.quick

MODE, PLACE = Note("mode", "<mode>plan</mode>"), Note("environment", "<environment>here</environment>")
GO, SAID = UserMessage("go"), AssistantMessage((Text("well"),), ())


def running() -> Play:
    play = Play()
    play.prompt("go")
    play.claim()
    return play


PLACES: list[tuple[list[Message], list[Message]]] = [
    ([], [UserMessage(f"{PLACE.text}\n{MODE.text}")]),
    ([GO], [UserMessage(f"{PLACE.text}\n{MODE.text}\n\ngo")]),
    ([GO, SAID], [GO, SAID, UserMessage(f"{PLACE.text}\n{MODE.text}")]),
    (
        [UserMessage("look", (Image("image/png", "A"),))],
        [UserMessage(f"{PLACE.text}\n{MODE.text}\n\nlook", (Image("image/png", "A"),))],
    ),
]


@pytest.mark.parametrize(("before", "after"), PLACES)
def test_notes_stand_before_the_prompt_or_after_the_results(before: list[Message], after: list[Message]) -> None:
    known = list(before)
    assert with_notes(known, [PLACE, MODE]) == after
    assert known == before
    assert with_notes(known, []) is known


def test_the_last_note_on_a_topic_is_what_the_model_knows() -> None:
    play = running()
    play.message(allowed("c1"), notes=(PLACE, MODE))
    play.end_call("c1", Finished("ok"))
    play.message(notes=(Note("mode", "<mode>yolo</mode>"),))
    assert play.state.told == {"environment": PLACE.text, "mode": "<mode>yolo</mode>"}


def test_a_file_that_is_read_again_has_not_changed_any_more() -> None:
    play = running()
    play.message(allowed("c1"))
    play.end_call("c1", Finished("ok", seen=(Seen("a.py", "1"), Seen("b.py", "1"))))
    changed = [Note(f"file:{path}", f"<file-changed>{path}</file-changed>") for path in ("a.py", "b.py")]
    play.message(allowed("c2"), notes=tuple(changed))
    play.end_call("c2", Finished("ok", seen=(Seen("a.py", "2"),)))
    assert play.state.seen == {"a.py": "2", "b.py": "1"}
    assert play.state.told == {"file:b.py": changed[1].text}


NOTES = st.lists(st.sampled_from([PLACE, MODE, Note("todo", "<reminder>2 open</reminder>")]), max_size=3, unique=True)
BLOCKS: st.SearchStrategy[tuple[Block, ...]] = st.sampled_from([(Text("well"),), (), (Thinking("hm"),)])
STEPS = st.lists(
    st.tuples(
        NOTES,
        st.integers(0, 2),  # calls
        BLOCKS,
        st.booleans(),  # whether the person steers
        st.booleans(),  # whether the request fails and is sent again
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_what_was_sent_is_the_beginning_of_what_is_sent_next(
    steps: list[tuple[list[Note], int, tuple[Block, ...], bool, bool]],
) -> None:
    """A provider has read it before, and charges less for it. Also by a process that reads the log anew."""
    play, growing = Play(), Transcript()
    for notes, calls, blocks, steers, fails in steps:
        if play.state.turn is None:
            play.prompt(play.new("do "))
            play.claim()
        if steers:
            play.prompt(play.new("rather "), steer=True)
            play.take_steering()
        if fails:
            with_notes(growing.update(play.state), [*notes, Note("lost", "never recorded")])
            play.claim("B")
        sent = list(with_notes(growing.update(play.state), notes))
        assert sent == with_notes(transcript(play.state), notes)
        proposed = [allowed(play.new("c")) for _ in range(calls)]
        play.message(*proposed, blocks=blocks, notes=tuple(notes))
        for each in proposed:
            play.end_call(each.id, Finished("ok"))
        check_continued(sent, growing.update(play.state))
        assert growing.update(play.state) == transcript(play.state)
        if blocks == (Text("well"),) or proposed:
            assert growing.update(play.state)[: len(sent)] == sent


@pytest.mark.parametrize(
    ("sent", "now"),
    [
        ([GO], [SAID]),
        ([GO], []),
        ([GO, SAID], [UserMessage("go!"), SAID]),
        ([GO], [UserMessage("<mode>plan</mode>\n\ngo"), SAID]),
        ([GO, SAID], [GO, AssistantMessage((Text("other"),), ())]),
        ([UserMessage("look", (Image("image/png", "A"),))], [UserMessage("look")]),
    ],
)
def test_the_checker_of_what_was_sent_can_fail(sent: list[Message], now: list[Message]) -> None:
    with pytest.raises(BrokenPromise):
        check_continued(sent, now)
