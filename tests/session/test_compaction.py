"""What came before becomes a summary: in mid-turn, or in a turn that is there for nothing else."""

import pytest

from coderelay.protocol.calls import Finished, Seen
from coderelay.protocol.events import HistoryCompacted, PromptAdmitted, TurnEnded, TurnStarted
from coderelay.protocol.ids import CallId, PromptId, TurnId
from coderelay.protocol.message_content import Note
from coderelay.protocol.usage_and_cost import Usage
from coderelay.session.model_messages import AssistantMessage, ToolMessage, Transcript, UserMessage, transcript
from coderelay.session.openai_chat_format import snapshot
from tests.session.played_session import ANNE, USED, Play
from tests.session.proposed_calls import allowed, asked
from tests.session.test_model_messages import WELL

pytestmark = pytest.mark.quick

SUMMARY = "<summary>\nWhat happened so far, summed up because it became too long:\n\nall is well\n</summary>"
CALL = AssistantMessage(WELL, (allowed("c1").call(),))
RESULT = ToolMessage(CallId("c1"), "bash", "ok")


def worked() -> Play:
    """A turn with a call and its result, and the beginning of another."""
    play = Play()
    play.prompt("one")
    play.claim()
    play.message(allowed("c1"))
    play.end_call("c1", Finished("ok", seen=(Seen("a.py", "1"),)))
    play.message(notes=(Note("mode", "yolo"),))
    play.prompt("two")
    play.claim()
    return play


KEPT: list[tuple[int, list[UserMessage | AssistantMessage | ToolMessage]]] = [
    (
        0,
        [
            UserMessage(f"{SUMMARY}\n\none"),
            CALL,
            RESULT,
            UserMessage("yolo"),
            AssistantMessage(WELL, ()),
            UserMessage("two"),
        ],
    ),
    (1, [UserMessage(SUMMARY), CALL, RESULT, UserMessage("yolo"), AssistantMessage(WELL, ()), UserMessage("two")]),
    (2, [UserMessage(f"yolo\n\n{SUMMARY}"), AssistantMessage(WELL, ()), UserMessage("two")]),
    (3, [UserMessage(f"{SUMMARY}\n\ntwo")]),
    (4, [UserMessage(SUMMARY)]),
]


@pytest.mark.parametrize(("dropped", "messages"), KEPT)
def test_c11_the_summary_stands_before_what_is_kept_and_no_call_loses_its_result(
    dropped: int, messages: list[UserMessage | AssistantMessage | ToolMessage]
) -> None:
    play, growing = worked(), Transcript()
    growing.update(play.state)
    play.compact("all is well", dropped)
    assert transcript(play.state) == messages
    assert growing.update(play.state) == messages


def test_c11_what_was_told_and_seen_must_be_told_and_read_again() -> None:
    play = worked()
    assert (play.state.told, play.state.seen) == ({"mode": "yolo"}, {"a.py": "1"})
    play.compact(dropped=1)
    assert (play.state.told, play.state.seen, play.state.context_tokens) == ({}, {}, 0)


def test_c11_a_summary_of_a_summary() -> None:
    play, growing = worked(), Transcript()
    play.compact("first", 2)
    growing.update(play.state)
    play.message()
    play.prompt("three")
    play.claim()
    play.compact("all is well", 3)
    assert transcript(play.state) == [UserMessage(SUMMARY), AssistantMessage(WELL, ()), UserMessage("three")]
    assert growing.update(play.state) == transcript(play.state)


def test_c11_the_turn_goes_on_and_the_log_keeps_everything() -> None:
    play = worked()
    before = play.events()
    turn = play.state.turn
    assert turn is not None
    compacted = HistoryCompacted(turn_id=turn.started.turn_id, summary="so far", dropped=4, model="m", usage=USED)
    assert [each.event for each in play.compact()] == [compacted]
    assert play.events() == [*before, compacted]
    assert (turn.steps, turn.usage, turn.text) == (0, USED, "")


def test_c28_a_turn_for_a_summary_is_queued_and_ends_with_it() -> None:
    play = worked()
    assert [each.event for each in play.compact_history("c")] == [
        PromptAdmitted(prompt_id=PromptId("c"), text="/compact", by=ANNE, task="compact")
    ]
    assert play.compact_history("c") == []
    play.message()
    started = play.claim()[1].event
    assert isinstance(started, TurnStarted)
    assert (started.text, started.task) == ("/compact", "compact")
    play.now += 1000
    spent = Usage(input_tokens=100, output_tokens=7)
    compacted, ended = [each.event for each in play.compact("all is well", 4, usage=spent, cost=0.5)]
    assert isinstance(compacted, HistoryCompacted)
    assert ended == TurnEnded(
        turn_id=TurnId(started.turn_id), ending="done", text="all is well", usage=spent, cost=0.5, ms=1000
    )
    assert transcript(play.state) == [UserMessage(SUMMARY), AssistantMessage(WELL, ())]


def test_c28_the_word_for_a_summary_is_never_told_to_the_model() -> None:
    play = worked()
    play.message()
    title = play.row.title if play.row else None
    play.compact_history()
    play.claim()
    assert all(
        "/compact" not in message.text for message in transcript(play.state) if isinstance(message, UserMessage)
    )
    assert play.row is not None
    assert (play.row.title, play.row.last_prompt) == (title, "two")


def test_c28_x12_a_stop_that_meets_the_summary_keeps_it_and_ends_the_turn() -> None:
    play = worked()
    play.message()
    play.compact_history()
    play.claim()
    play.stop()
    assert len(play.compact("all is well", 5)) == 1
    ended = play.close("stopped")[-1].event
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.text, ended.usage) == ("stopped", "", USED)
    assert transcript(play.state) == [UserMessage(SUMMARY)]


def test_c28_an_empty_session_has_a_summary_too() -> None:
    play = Play()
    play.compact_history()
    play.claim()
    play.compact("all is well", 0)
    assert (play.state.phase, transcript(play.state)) == ("done", [UserMessage(SUMMARY)])


def test_a_session_that_waits_is_exported_after_a_summary() -> None:
    play = worked()
    play.compact("all is well")
    play.message(asked("c2"))
    assert [each["content"] for each in snapshot(play.state, [], "")["messages"]] == [SUMMARY]
