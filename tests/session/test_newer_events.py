"""Old and new programs on one log: what a newer one wrote is kept, and skipped by an older one."""

import json
from typing import Any, cast, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from coderelay.client.views import cowork_messages
from coderelay.protocol.asks import Allow, Answers, Deny, DenyAndStop, PlanDecision
from coderelay.protocol.background_commands import StoppedBy
from coderelay.protocol.calls import Finished
from coderelay.protocol.event_codec import decode, encode, kind_of
from coderelay.protocol.events import (
    AnyEvent,
    AskParked,
    ChildOpened,
    EnvironmentSetUp,
    HistoryCleared,
    PartialsKept,
    Recorded,
    SessionClaimed,
    SessionDeleted,
    SessionForked,
    SessionMoved,
    TreeTaken,
    TurnProlonged,
    TurnUndone,
    Unrecognised,
)
from coderelay.protocol.external_agent_events import PartialBlock
from coderelay.protocol.ids import BackgroundId, CallId, MachineId, MachineIdentity, MessageId, SessionId, TurnId
from coderelay.protocol.projected_rows import Summary
from coderelay.session import turn_event_builder
from coderelay.session.fold import fold
from coderelay.session.next_action import next_action
from coderelay.session.state import State
from coderelay.session.summary_row import summarise
from tests.session.played_session import ANNE, SESSION, Play
from tests.session.proposed_calls import allowed, ask_of, asked, denied, questions


def whole_life() -> list[AnyEvent]:
    """Every kind of event but the last: two owners, a crash, answers of every kind, a plan, an approval that is
    revoked, a call that asks again, a stop, a queue, a running call, a background command."""
    play = Play()
    play.configure(mode="auto-edit", title="t")
    play.prompt("one")
    play.claim("A")
    play.message(allowed("c1"), denied("c2"), asked("c3"))
    play.prompt("two", max_steps=3)
    play.answer("c3", Allow())
    play.claim("B")
    play.end_call("c1", Finished("ok"))
    play.claim("C")
    play.message()
    play.claim("C")
    play.message(asked("c4"), asked("c5"))
    play.answer("c4", Deny("no"))
    play.answer("c5", DenyAndStop())
    play.claim("A")
    play.prompt("three")
    play.recall(play.state.queue[-1].prompt_id)
    play.prompt("four")
    play.claim("A")
    play.message(asked("c6"), questions("c7"))
    play.write([AskParked(ask_id=ask_of("c7"))])
    play.answer("c6", Allow("session"))
    play.remember(ask_of("c6"))
    play.revoke(ask_of("c6"))
    play.answer("c7", Answers({"Which colour?": "Red"}))
    play.claim("B")
    play.ask_again("c6")
    play.answer("c6", Deny())
    play.configure(mode="plan")
    play.claim("B")
    play.message()
    play.answer_turn(PlanDecision("smart"))
    play.claim("B")
    play.message(allowed("c8"))
    play.write([ChildOpened(call_id=CallId("c8"), child=SessionId("child"))], epoch=play.state.epoch)
    play.prompt("five", steer=True)
    play.edit(play.state.queue[-1].prompt_id, "six")
    play.end_call("c8", Finished("ok", background=BackgroundId("1")))
    play.stop_background(BackgroundId("1"))
    play.end_background(BackgroundId("1"), StoppedBy(ANNE))
    play.take_steering()
    play.compact("so far")
    taken = TreeTaken(turn_id=TurnId(play.state.turn.started.turn_id if play.state.turn else ""), tree="t1")
    set_up = EnvironmentSetUp(turn_id=taken.turn_id, variables={"STAGE": "test"}, told="a test")
    pieces = PartialBlock(0, "text", ("so", " far"), starts=True)
    kept = PartialsKept(turn_id=taken.turn_id, message_id=MessageId("partial"), blocks=(pieces,))
    play.write([taken, set_up, kept, TurnProlonged(turn_id=taken.turn_id, reason="more")], epoch=play.state.epoch)
    play.message()
    play.write([TurnUndone(turn_id=taken.turn_id, by=ANNE)])
    play.write([HistoryCleared(by=ANNE)])
    play.write([SessionMoved(machine=MachineIdentity(MachineId("m2"), "laptop"), by=ANNE)])
    play.write([SessionForked(of=SessionId("other"), at=7, by=ANNE)])
    play.prompt("seven")
    play.claim("B", blocking=True)
    play.propose(asked("c9"))
    play.write(turn_event_builder.attach(play.state, "theirs", "m", ("Bash",)), epoch=play.state.epoch)
    play.keep(play.kept("m9", results=("c9",)))
    play.park_turn()
    return play.events()


LIFE = whole_life()
NAMES = st.text("abcdefghij_", min_size=1, max_size=8).map("x_".__add__)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
BODIES = st.dictionaries(NAMES, VALUES, max_size=3)
STRANGERS = st.lists(st.tuples(st.integers(0, len(LIFE)), NAMES, BODIES), max_size=6)


def placed(events: list[AnyEvent]) -> list[Recorded]:
    epoch, log = 0, list[Recorded]()
    for seq, event in enumerate(events, 1):
        epoch = event.epoch if isinstance(event, SessionClaimed) else epoch
        log.append(Recorded(SESSION, seq, epoch, 7, event))
    return log


def apart_from_the_head(state: State) -> State:
    return replace(state, head=0)


def row(log: list[Recorded]) -> Summary:
    found: Summary | None = None
    for recorded in log:
        found = summarise(found, recorded)
    assert found is not None
    return replace(found, head=0, asks_after=0)  # numbers of events, which move with what is between


@pytest.mark.quick
def test_the_life_below_has_every_kind_of_event() -> None:
    assert {type(event) for event in LIFE} == set(get_args(AnyEvent)) - {SessionDeleted, Unrecognised}


@settings(max_examples=50, deadline=None)
@given(STRANGERS)
def test_unknown_kinds_anywhere_change_nothing_and_are_kept(strangers: list[tuple[int, str, dict[str, Any]]]) -> None:
    mixed = list(LIFE)
    for place, name, fields in sorted(strangers, key=lambda each: each[0], reverse=True):
        kind = f"{name}.happened"
        stranger = decode(kind, json.dumps({"kind": kind, **fields}))
        assert stranger == Unrecognised(kind, {"kind": kind, **fields})
        assert (kind_of(stranger), json.loads(encode(stranger))) == (kind, {"kind": kind, **fields})
        mixed.insert(place, stranger)
    old, new = placed(LIFE), placed(mixed)
    assert apart_from_the_head(fold(SESSION, new)) == apart_from_the_head(fold(SESSION, old))
    assert next_action(fold(SESSION, new)) == next_action(fold(SESSION, old))
    assert fold(SESSION, new).head == len(mixed)
    assert row(new) == row(old)
    shown = [cowork_messages.rows(each) for each in new if isinstance(each.event, Unrecognised)]
    assert shown == [[] for _ in strangers]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, len(LIFE) - 1), BODIES.filter(bool))
def test_unknown_fields_of_known_kinds_are_skipped(which: int, fields: dict[str, Any]) -> None:
    """At any depth: in the event, in a verdict, in an outcome."""
    event = LIFE[which]
    body = _with_fields(json.loads(encode(event)), fields)
    assert decode(kind_of(event), json.dumps(body)) == event


MAPS = {"answers", "variables", "values"}  # their names are people's, not ours


def _with_fields(value: Any, fields: dict[str, Any]) -> Any:
    match value:
        case dict():
            known = cast(dict[str, Any], value)
            return {
                name: each if name in MAPS else _with_fields(each, fields) for name, each in known.items()
            } | fields
        case list():
            return [_with_fields(each, fields) for each in cast(list[Any], value)]
        case _:
            return value


@pytest.mark.quick
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("prompt.admitted", b'{"kind":"prompt.admitted"}'),
        ("prompt.admitted", b'{"kind":"turn.ended"}'),
        ("turn.ended", b'{"kind":"turn.ended","turn_id":"t","ending":"exploded"}'),
        ("session.painted", b"[]"),
        ("session.painted", b'{"kind":'),
    ],
)
def test_a_known_kind_that_cannot_be_read_is_damage(kind: str, body: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(kind, body)
