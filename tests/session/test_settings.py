"""Settings that change now or from the next turn on, as the log tells it."""

from typing import Any

import pytest
from msgspec.structs import replace

from coderelay.protocol.asks import Allow
from coderelay.protocol.calls import Finished
from coderelay.protocol.commands import ConfigureSession, CreateSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import (
    AgentAttached,
    EnvironmentSetUp,
    Recorded,
    SessionConfigured,
    SessionMoved,
    TurnStarted,
)
from coderelay.protocol.ids import CallId, MachineId, MachineIdentity, SessionId
from coderelay.protocol.session_setting_values import Mode, Preset
from coderelay.session import decide, turn_event_builder
from coderelay.session.settings_change_timing import Facts, configure
from coderelay.session.state import State
from tests.session.ask_checks import BrokenPromise
from tests.session.comparable_summary import of_row, of_state
from tests.session.played_session import ANNE, FACTS, SESSION, Play
from tests.session.proposed_calls import ask_of, runs
from tests.session.replaceable_rules import Rules
from tests.session.test_clear import read_by_page

pytestmark = pytest.mark.quick


def running(mode: Mode = "default", **now: Any) -> Play:
    play = Play(mode=mode)
    change(play, **now)
    play.prompt("one")
    play.claim()
    return play


def change(play: Play, facts: Facts = FACTS, **wanted: Any) -> list[Recorded]:
    return play.write(configure(play.state, ConfigureSession(session=SESSION, by=ANNE, **wanted), facts))


def later(play: Play, facts: Facts = FACTS, **wanted: Any) -> list[Recorded]:
    return change(play, facts, when="next_turn", **wanted)


def agrees(play: Play) -> None:
    """The row, the state and the reader of the log say the same."""
    assert play.row is not None
    assert play.read_again(play.log) == play.state
    assert of_row(play.row, play.log) == of_state(play.state)
    checker, settings = read_by_page(play), play.state.settings
    assert settings is not None
    assert (checker.cwd, checker.mode, checker.allowed_tools) == (
        settings.cwd,
        settings.mode,
        settings.allowed_tools,
    )


def test_x20_what_is_for_the_next_turn_waits_for_the_end_of_this_one() -> None:
    play = running()
    wanted: dict[str, Any] = {
        "cwd": "/v",
        "mode": "yolo",
        "think": "high",
        "model": "n",
        "agent": "guide",
        "folders": ("/a",),
    }
    (written,) = later(play, **wanted)
    assert written.event == SessionConfigured(by=ANNE, next_turn=True, agent_session_id=SESSION, **wanted)
    before = play.state.settings
    assert before is not None
    assert (before.cwd, before.mode, before.think, before.folders) == ("/w", "default", "auto", ())
    agrees(play)
    play.message()
    assert play.state.settings == replace(before, agent_session_id=SESSION, **wanted)
    agrees(play)
    play.prompt("two")
    play.claim()
    (started,) = [each for each in play.events()[-1:] if isinstance(each, TurnStarted)]
    assert (started.cwd, started.mode, started.model) == ("/v", "yolo", "n")
    agrees(play)


def test_x20_between_turns_it_counts_at_once() -> None:
    play = Play()
    (written,) = later(play, mode="yolo", cwd="/v")
    assert written.event == SessionConfigured(by=ANNE, mode="yolo", cwd="/v")
    assert play.state.pending is None
    agrees(play)


@pytest.mark.parametrize(
    ("now", "wanted", "at_once", "waits"),
    [
        ({"mode": "yolo"}, {"mode": "plan"}, {"mode": "plan"}, {}),
        ({"mode": "auto-edit"}, {"mode": "default"}, {"mode": "default"}, {}),
        ({"mode": "plan"}, {"mode": "default"}, {}, {"mode": "default"}),
        ({"mode": "auto-edit", "preset": "yolo"}, {"mode": "default"}, {}, {"mode": "default"}),
        ({"mode": "auto-edit", "preset": "yolo"}, {"mode": "default", "preset": "strict"}, None, {}),
        ({"preset": "auto-edit"}, {"preset": "balanced"}, {"preset": "balanced"}, {}),
        ({"preset": "strict"}, {"preset": "balanced"}, {}, {"preset": "balanced"}),
        ({}, {"allowed_tools": ("read", "bash")}, {"allowed_tools": ("read", "bash")}, {}),
        ({"allowed_tools": ("read", "bash")}, {"allowed_tools": ()}, {}, {"allowed_tools": ()}),
        (
            {"allowed_tools": ("read", "bash")},
            {"allowed_tools": ("read", "write")},
            {"allowed_tools": ("read",)},
            {"allowed_tools": ("read", "write")},
        ),
        (
            {"allowed_tools": ("read",)},
            {"allowed_tools": ("write",)},
            {"allowed_tools": ("todo",)},
            {"allowed_tools": ("write",)},
        ),
        ({"folders": ("/a", "/b")}, {"folders": ("/b", "/c")}, {"folders": ("/b",)}, {"folders": ("/b", "/c")}),
        ({"folders": ("/a",)}, {"folders": ()}, {"folders": ()}, {}),
        ({}, {"title": "t", "think": "high"}, {"title": "t"}, {"think": "high"}),
    ],
)
def test_x20_a_tightening_counts_at_once_and_the_rest_waits(
    now: dict[str, Any], wanted: dict[str, Any], at_once: dict[str, Any] | None, waits: dict[str, Any]
) -> None:
    play = running(**now)
    written = [each.event for each in later(play, **wanted)]
    expected = [
        *([SessionConfigured(by=ANNE, **(wanted if at_once is None else at_once))] if at_once != {} else []),
        *([SessionConfigured(by=ANNE, next_turn=True, **waits)] if waits else []),
    ]
    assert written == expected
    agrees(play)


@pytest.mark.parametrize(("preset", "at_once"), [("strict", True), ("balanced", True), ("yolo", False)])
def test_x20_mode_default_is_as_free_as_the_preset_of_its_folder(preset: Preset, at_once: bool) -> None:
    play = running("auto-edit")
    later(play, replace(FACTS, preset=preset), mode="default")
    assert (play.state.pending is None) == at_once


def test_x20_the_last_word_on_a_setting_holds() -> None:
    play = running()
    later(play, mode="yolo", think="high")
    later(play, mode="auto-edit")
    assert play.state.pending == SessionConfigured(by=ANNE, mode="auto-edit", think="high", next_turn=True)
    assert later(play, mode="auto-edit") == []
    change(play, mode="default")
    assert play.state.pending == SessionConfigured(by=ANNE, think="high", next_turn=True)
    change(play, think="auto")
    assert play.state.pending is None
    later(play, mode="auto-edit")
    later(play, mode="plan")
    assert play.state.pending is None
    agrees(play)


def test_x20_the_folder_stays_under_a_turn() -> None:
    play = running()
    with pytest.raises(BadInput, match="the folder can change from the next turn on"):
        change(play, cwd="/v")
    assert change(play, cwd="/w") == []
    later(play, cwd="/v")
    play.message()
    assert [each.cwd for each in play.state.past] == ["/w"]
    assert change(play, cwd="/w")
    agrees(play)


OWN_IDS = Facts(FACTS.preset, FACTS.tools_in_both, has_own_session_ids=True)


def attach(play: Play, agent_session_id: str, model: str = "m") -> list[Recorded]:
    return play.write(turn_event_builder.attach(play.state, agent_session_id, model, ("Bash",)))


def known_id(play: Play) -> str | None:
    agrees(play)
    assert play.state.settings is not None
    return play.state.settings.agent_session_id


def test_x09_each_agent_has_the_id_of_its_own_session_whichever_came_before() -> None:
    play = running()
    change(play, OWN_IDS, agent="claude")  # while the turn of the native agent is open
    assert known_id(play) is None
    play.message()
    play.prompt("two")
    play.claim()
    attach(play, "theirs-1")
    later(play, OWN_IDS, agent="other")
    assert known_id(play) == "theirs-1"
    play.message()
    assert known_id(play) is None
    change(play, agent="native")
    assert known_id(play) == SESSION
    change(play, OWN_IDS, agent="claude")
    assert known_id(play) == "theirs-1"


def test_x09_the_id_that_an_agent_tells_late_is_not_that_of_the_agent_chosen_meanwhile() -> None:
    play = running(agent="claude")
    change(play, agent="guide")
    attach(play, "theirs-1")
    assert known_id(play) == SESSION
    assert play.state.attached["claude"].agent_session_id == "theirs-1"


def test_x09_an_agent_that_uses_another_model_is_recorded_again() -> None:
    play = running(agent="claude")
    assert attach(play, "theirs-1")
    assert attach(play, "theirs-1") == []
    (again,) = attach(play, "theirs-1", "another")
    assert isinstance(again.event, AgentAttached)
    assert again.event.model == "another"
    play.message()
    play.prompt("two")
    play.claim()
    assert attach(play, "theirs-1", "another") == []


def test_an_old_log_that_says_no_id_with_its_agent_keeps_the_one_it_had() -> None:
    play = running(agent="claude")
    attach(play, "theirs-1")
    play.write([SessionConfigured(by=ANNE, agent="guide")])
    assert known_id(play) == "theirs-1"


def of_this_folder(rules: Rules | None = None) -> Play:
    """A session with an approval and an environment of its own, in an open turn."""
    play = Play(rules)
    play.prompt("one")
    play.claim()
    assert play.state.turn is not None
    set_up = EnvironmentSetUp(turn_id=play.state.turn.started.turn_id, variables={"A": "b"})
    play.write([set_up], epoch=play.state.epoch)
    play.message(runs("c1"))
    play.answer("c1", Allow("session"))
    assert play.remember(ask_of("c1"))
    play.claim("A")
    play.end_call("c1", Finished("ok"))
    return play


def move(play: Play) -> None:
    play.message()
    play.write([SessionMoved(machine=MachineIdentity(MachineId("m2"), "server"), by=ANNE)])


def test_x20_what_belonged_to_a_folder_goes_with_it() -> None:
    play = of_this_folder()
    later(play, cwd="/v")
    assert play.state.approvals
    play.message()
    assert (play.state.approvals, play.state.environment) == ({}, None)


def test_what_belonged_to_the_folder_of_a_machine_stays_there_when_the_session_moves() -> None:
    play = of_this_folder()
    move(play)
    assert (play.state.approvals, play.state.environment) == ({}, None)
    play.prompt("two")
    play.claim("B")
    assert play.state.turn is not None
    set_up_again = EnvironmentSetUp(turn_id=play.state.turn.started.turn_id, variables={"A": "c"})
    play.write([set_up_again], epoch=play.state.epoch)
    agrees(play)


class ApprovalsMoveToo(Rules):
    def apply(self, state: State, recorded: Recorded) -> None:
        approvals = dict(state.approvals)
        super().apply(state, recorded)
        if isinstance(recorded.event, SessionMoved):
            state.approvals = approvals


def test_the_checker_notices_an_approval_that_moved_to_another_machine() -> None:
    play = of_this_folder(ApprovalsMoveToo())
    move(play)
    play.prompt("two")
    play.claim("B")
    play.message(runs("c2"))
    with pytest.raises(BrokenPromise, match="make: allow instead of ask"):
        read_by_page(play)


def test_a_task_stays_in_the_folder_of_its_session() -> None:
    state = State(SESSION)
    created = CreateSession(
        session=SESSION, cwd="/w", model="m", by=ANNE, parent=SessionId("p"), parent_call=CallId("c")
    )
    (event,) = decide.create(state, created)
    play = Play()
    play.log.clear()
    play.state = state
    play.write([event])
    with pytest.raises(BadInput, match="a subagent works in the folder of its parent session"):
        change(play, cwd="/v")
