"""The session as a model sees it."""

import pytest

from coderelay.protocol.asks import Deny
from coderelay.protocol.calls import Denied, Failed, Finished, Outcome, Stopped, Unknown
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Block, Text, Thinking
from coderelay.session.model_messages import (
    AssistantMessage,
    ToolMessage,
    Transcript,
    UserMessage,
    result_text,
    transcript,
)
from tests.session.ask_checks import BrokenPromise
from tests.session.model_message_checks import check_transcript
from tests.session.observed_history import Told
from tests.session.played_session import Play
from tests.session.proposed_calls import allowed, asked, denied

pytestmark = pytest.mark.quick

WELL = (Text("well"),)


def turn(play: Play, text: str) -> None:
    play.prompt(text)
    play.claim()


def test_c03_the_prompt_comes_first_and_each_call_is_followed_by_its_result() -> None:
    play = Play()
    turn(play, "go")
    play.message(allowed("c1"), asked("c2"), denied("c3"))
    play.answer("c2", Deny())
    play.claim()
    play.end_call("c1", Finished("ok"))
    play.message()
    calls = tuple(each.call() for each in (allowed("c1"), asked("c2"), denied("c3")))
    assert transcript(play.state) == [
        UserMessage("go"),
        AssistantMessage(WELL, calls),
        ToolMessage(CallId("c1"), "bash", "ok"),
        ToolMessage(CallId("c2"), "bash", "Not allowed: the user denied it. The call did not run.", failed=True),
        ToolMessage(CallId("c3"), "bash", "Not allowed: deny: a rule. The call did not run.", failed=True),
        AssistantMessage(WELL, ()),
    ]


def test_a_prompt_without_an_answer_is_joined_with_the_next() -> None:
    play = Play()
    turn(play, "one")
    play.close("failed", "no network")
    turn(play, "two")
    play.stop()
    play.close("stopped")
    turn(play, "three")
    assert transcript(play.state) == [UserMessage("one\n\ntwo\n\nthree")]


@pytest.mark.parametrize("blocks", [(), (Thinking("hm"),), (Text(""),)])
def test_a_message_in_which_nothing_is_said_is_left_out(blocks: tuple[Block, ...]) -> None:
    play = Play()
    turn(play, "one")
    play.message(blocks=blocks)
    turn(play, "two")
    assert transcript(play.state) == [UserMessage("one\n\ntwo")]


def test_what_an_agent_says_before_it_says_more_is_joined() -> None:
    """Symptom: two assistant messages in a row, which strict providers refuse."""
    play = Play()
    turn(play, "go")
    play.message(blocks=(Thinking("hm"), Text("first")), final=False)
    play.message(allowed("c1"), blocks=(Text("second"),))
    play.end_call("c1", Finished(""))
    assert transcript(play.state) == [
        UserMessage("go"),
        AssistantMessage((Thinking("hm"), Text("first"), Text("second")), (allowed("c1").call(),)),
        ToolMessage(CallId("c1"), "bash", "(no output)"),
    ]


def test_a_growing_transcript_keeps_its_messages() -> None:
    play, growing = Play(), Transcript()
    turn(play, "one")
    first = growing.update(play.state)[0]
    play.message(allowed("c1"))
    play.end_call("c1", Finished("ok"))
    again = growing.update(play.state)
    assert again[0] is first
    assert again == transcript(play.state)
    play.close("failed", "no network")
    turn(play, "two")
    assert growing.update(play.state) == transcript(play.state)


def test_d08_a_call_without_its_end_is_never_shown_to_a_model() -> None:
    play = Play()
    turn(play, "go")
    play.message(allowed("c1"))
    with pytest.raises(AssertionError, match="c1 has no end yet"):
        transcript(play.state)


RESULTS: list[tuple[Outcome, str]] = [
    (Finished("ok", summary="1 line"), "ok"),
    (Finished(""), "(no output)"),
    (Failed("no such file", summary="no"), "Error: no such file"),
    (Denied("too bold"), "Not allowed: too bold. The call did not run."),
    (
        Stopped(started=True),
        "Stopped by the person while it ran. It may have had effects; check before repeating it.",
    ),
    (Stopped(started=False), "Not run: the person stopped the turn."),
    (
        Unknown(),
        "Interrupted: the process that ran it went away. It may have run; check before repeating it.",
    ),
]


@pytest.mark.parametrize(("outcome", "text"), RESULTS)
def test_d22_x25_every_outcome_has_a_result_the_model_can_read(outcome: Outcome, text: str) -> None:
    assert result_text(outcome) == text


SAID, ASKED = UserMessage("go"), AssistantMessage(WELL, (allowed("c1").call(), allowed("c2").call()))
C1, C2 = ToolMessage(CallId("c1"), "bash", "ok"), ToolMessage(CallId("c2"), "bash", "ok")


@pytest.mark.parametrize(
    ("messages", "broken"),
    [
        ([AssistantMessage(WELL, ())], "speaks first"),
        ([SAID, SAID], "in a row"),
        ([SAID, AssistantMessage(WELL, ()), AssistantMessage(WELL, ())], "in a row"),
        ([SAID, C1], "nobody asked for"),
        ([SAID, ASKED, C2, C1], "out of order"),
        ([SAID, ASKED, C1], "without its result"),
        ([SAID, ASKED, C1, SAID], "without its result"),
        ([SAID, ASKED, C1, C2], "calls are missing or strange"),
        ([SAID], "prompts are missing or strange"),
    ],
)
def test_the_checker_of_transcripts_can_fail(
    messages: list[UserMessage | AssistantMessage | ToolMessage], broken: str
) -> None:
    with pytest.raises(BrokenPromise, match=broken):
        check_transcript(messages, Told())
