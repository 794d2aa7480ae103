"""What commands mean for a session as it stands; refusals change nothing."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from coderelay.protocol.asks import Allow, Deny, DenyAndStop
from coderelay.protocol.commands import (
    AnswerAsk,
    CompactHistory,
    ConfigureSession,
    CreateSession,
    DeleteSession,
    EditPrompt,
    RecallPrompt,
    SendPrompt,
    StopTurn,
)
from coderelay.protocol.errors import BadInput, Refusal, UnknownAsk, UnknownSession
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    BatchResumed,
    PromptAdmitted,
    PromptRecalled,
    SessionConfigured,
    SessionCreated,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import MessageId, PromptId
from coderelay.session import decide
from coderelay.session.fold import fold
from coderelay.session.next_action import EndTurn, Rest, StartTurn, next_action
from coderelay.session.settings_change_timing import configure
from coderelay.session.state import State
from tests.session.played_session import ANNE, BEN, FACTS, SESSION, Play
from tests.session.proposed_calls import allowed, ask_of, asked

pytestmark = pytest.mark.quick

PROMPT = SendPrompt(session=SESSION, prompt_id=PromptId("p"), text="go", by=ANNE)
CREATE = CreateSession(session=SESSION, cwd="/w", model="m", by=ANNE)
ALLOW_C1 = AnswerAsk(session=SESSION, ask=ask_of("c1"), decision=Allow(), by=ANNE)
STOP = StopTurn(session=SESSION, by=ANNE)
EDIT = EditPrompt(session=SESSION, prompt_id=PromptId("p"), text="rather", by=ANNE)
COMPACT = CompactHistory(session=SESSION, prompt_id=PromptId("p"), by=ANNE)
DELETE = DeleteSession(session=SESSION, by=ANNE)


Decide = Callable[[State], list[AnyEvent]]


def waiting() -> Play:
    play = Play()
    play.prompt("go")
    play.claim()
    play.message(asked("c1"), allowed("c2"), asked("c3"))
    return play


def deleted() -> Play:
    play = Play()
    play.delete()
    return play


NOT_THERE = {"never was": State(SESSION), "deleted": deleted().state}
COMMANDS: dict[str, Decide] = {
    "prompt": lambda state: decide.send_prompt(state, PROMPT),
    "answer": lambda state: decide.answer(state, ALLOW_C1),
    "stop": lambda state: decide.stop(state, STOP),
    "recall": lambda state: decide.recall_prompt(
        state, RecallPrompt(session=SESSION, prompt_id=PromptId("p"), by=ANNE)
    ),
    "edit": lambda state: decide.edit_prompt(state, EDIT),
    "compact": lambda state: decide.compact(state, COMPACT),
    "configure": lambda state: configure(state, ConfigureSession(session=SESSION, by=ANNE, mode="yolo"), FACTS),
}


@pytest.mark.parametrize("state", NOT_THERE.values(), ids=NOT_THERE)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_b43_a_session_that_is_not_there_is_refused(state: State, command: Decide) -> None:
    with pytest.raises(UnknownSession):
        command(state)


@pytest.mark.parametrize("state", NOT_THERE.values(), ids=NOT_THERE)
def test_b45_b67_deleting_what_is_not_there_is_no_error(state: State) -> None:
    assert decide.delete(state, DELETE) == []


REFUSED: dict[str, tuple[type[Refusal], Decide]] = {
    "already exists": (BadInput, lambda state: decide.create(state, CREATE)),
    "empty prompt": (BadInput, lambda state: decide.send_prompt(state, replace(PROMPT, text=" \n\t "))),
    "no steps": (BadInput, lambda state: decide.send_prompt(state, replace(PROMPT, max_steps=0))),
    "no time to answer": (BadInput, lambda state: decide.send_prompt(state, replace(PROMPT, answer_within=0))),
    "emptied prompt": (BadInput, lambda state: decide.edit_prompt(state, replace(EDIT, text=" \n"))),
    "unknown ask": (UnknownAsk, lambda state: decide.answer(state, replace(ALLOW_C1, ask=ask_of("elsewhere")))),
}


@pytest.mark.parametrize(("refusal", "command"), REFUSED.values(), ids=REFUSED)
def test_refusals_change_nothing(refusal: type[Refusal], command: Decide) -> None:
    play = waiting()
    with pytest.raises(refusal):
        command(play.state)
    assert fold(SESSION, play.log) == play.state


def test_a_session_is_created_with_its_own_id_as_the_agents() -> None:
    assert decide.create(State(SESSION), CREATE) == [
        SessionCreated(cwd="/w", agent="native", model="m", mode="default", by=ANNE, agent_session_id=SESSION)
    ]


def test_a_prompt_sent_twice_is_admitted_once() -> None:
    play = Play()
    play.prompt("go", "p")
    assert decide.send_prompt(play.state, PROMPT) == []
    play.claim()
    play.message()
    assert decide.send_prompt(play.state, PROMPT) == []


def test_x08_a_prompt_during_a_turn_or_a_wait_is_queued() -> None:
    play = waiting()
    assert play.prompt("and then", "p2")[0].event == PromptAdmitted(
        prompt_id=PromptId("p2"), text="and then", by=ANNE
    )
    assert [each.prompt_id for each in play.state.queue] == ["p2"]
    assert play.state.phase == "waiting"


def test_x08_a_prompt_that_waits_can_be_taken_back_and_no_other() -> None:
    play = Play()
    for name in ("p1", "p2", "p3"):
        play.prompt(name, name)
    play.claim()
    assert [each.event for each in play.recall("p2")] == [PromptRecalled(prompt_id=PromptId("p2"), by=ANNE)]
    assert play.recall("p1") == play.recall("p2") == play.recall("never sent") == []
    assert play.row is not None
    assert ([each.prompt_id for each in play.state.queue], play.row.queued) == (["p3"], 1)
    assert play.prompt("p2", "p2") == []  # taken back is not forgotten


def test_only_changed_settings_are_written() -> None:
    play = Play()
    same = ConfigureSession(
        session=SESSION, by=BEN, mode="default", model="m", title="", allowed_tools=(), think="auto"
    )
    assert configure(play.state, same, FACTS) == []
    changed = ConfigureSession(session=SESSION, by=BEN, mode="plan", model="m", allowed_tools=("Read",), think="high")
    assert configure(play.state, changed, FACTS) == [
        SessionConfigured(by=BEN, mode="plan", allowed_tools=("Read",), think="high")
    ]
    play.write(configure(play.state, changed, FACTS))
    freed = ConfigureSession(session=SESSION, by=BEN, allowed_tools=())
    play.write(configure(play.state, freed, FACTS))
    settings = play.state.settings
    assert settings is not None
    assert (settings.mode, settings.allowed_tools, settings.think) == ("plan", (), "high")
    assert play.row is not None
    assert (play.row.mode, play.row.allowed_tools, play.row.think) == ("plan", (), "high")


def test_d03_the_last_answer_resumes_the_batch_and_no_other() -> None:
    play = waiting()
    batch = MessageId("m3")
    assert [each.event for each in play.answer("c3", Deny(), BEN)] == [
        AskAnswered(ask_id=ask_of("c3"), decision=Deny(), by=BEN)
    ]
    assert [each.event for each in play.answer("c1", Allow())] == [
        AskAnswered(ask_id=ask_of("c1"), decision=Allow(), by=ANNE),
        BatchResumed(batch_id=batch),
    ]


def test_d12_the_loser_of_a_race_is_told_who_won() -> None:
    play = waiting()
    play.answer("c1", Deny("no"), BEN)
    assert decide.answer(play.state, ALLOW_C1) == []
    assert decide.recorded_answer(play.state, ALLOW_C1) == (Deny("no"), BEN)


def test_x03_deny_and_stop_ends_the_turn_without_resuming() -> None:
    play = waiting()
    play.answer("c3", Allow())
    assert [each.event for each in play.answer("c1", DenyAndStop())] == [
        AskAnswered(ask_id=ask_of("c1"), decision=DenyAndStop(), by=ANNE),
        StopRequested(by=ANNE),
    ]
    assert next_action(play.state) == EndTurn(stopped=True)


def test_an_answer_that_comes_after_the_stop_does_not_count() -> None:
    """Symptom: the person was told the answer counted and the batch resumed, but nothing ran."""
    play = waiting()
    play.stop()
    assert play.answer("c1", Allow()) == play.answer("c3", Allow()) == []
    play.claim()
    assert decide.answer(play.state, ALLOW_C1) == []
    assert decide.recorded_answer(play.state, ALLOW_C1) == (None, None)


def test_b66_stopping_what_does_not_run_changes_nothing() -> None:
    play = Play()
    assert play.stop() == []
    play.prompt("go")
    play.claim()
    assert len(play.stop()) == 1
    assert play.stop() == []


def test_x12_a_queued_prompt_waits_after_a_stop_until_another_is_sent() -> None:
    play = Play()
    for text in ("one", "two"):
        play.prompt(text)
    play.claim()
    play.stop()
    play.close("stopped")
    assert next_action(play.state) == Rest()
    play.prompt("three")
    assert next_action(play.state) == StartTurn()
    for _ in range(2):
        play.claim()
        play.message()
    assert [event.text for event in play.events() if isinstance(event, TurnStarted)] == ["one", "two", "three"]


def test_x12_a_prompt_sent_between_the_stop_and_the_end_of_the_turn_is_not_held() -> None:
    """Symptom: stop, type the next prompt at once, and nothing happens until a third one is sent."""
    play = Play()
    play.prompt("one")
    play.claim()
    play.stop()
    play.prompt("two")
    play.close("stopped")
    assert next_action(play.state) == StartTurn()


def test_x12_a_stop_that_meets_the_final_message_still_stops() -> None:
    """Symptom: stopped in the last moment, the turn counted as done and the next prompt began."""
    play = Play()
    for text in ("one", "two"):
        play.prompt(text)
    play.claim()
    play.stop()
    play.message()
    assert next_action(play.state) == EndTurn(stopped=True)
    ended = play.close("stopped")[-1].event
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.text, next_action(play.state)) == ("stopped", "well", Rest())


def test_b25_a_running_session_is_deleted_at_once() -> None:
    play = waiting()
    assert [each.event for each in play.delete()] == [SessionDeleted(by=ANNE)]
    assert next_action(play.state) == Rest()
    assert next_action(fold(SESSION, play.stored())) == Rest()
    assert fold(SESSION, play.stored()) == play.state
