"""The checker that reads a log as an outside program would: it accepts what the rules write, and notices the rest."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from coderelay.protocol.asks import Allow, Deny
from coderelay.protocol.background_commands import StoppedBy
from coderelay.protocol.calls import Finished
from coderelay.protocol.event_codec import encode
from coderelay.protocol.ids import BackgroundId
from tests.log_checker import BrokenPromise, check_background_over, check_log, check_settled
from tests.session.played_session import ANNE, Play
from tests.session.proposed_calls import allowed, asked, denied, reads

pytestmark = pytest.mark.quick

Log = list[dict[str, Any]]


def whole_life() -> Log:
    """Two turns with steering, an edit, a recall, a summary in mid-turn and one by itself, and a budget."""
    play = Play()
    play.prompt("one", "p1")
    play.claim()
    play.message(allowed("c1"), asked("c2"), cost=0.25)
    play.prompt("three", "p3")
    for name in ("s1", "s2"):
        play.prompt(f"rather {name}", name, steer=True)
    play.prompt("never", "p4")
    play.recall("p4")
    play.edit("p3", "four")
    play.edit("s1", "rather not")
    play.answer("c2", Allow())
    play.claim("B")
    play.end_call("c1", Finished("ok"))
    play.end_call("c2", Finished("ok"))
    play.take_steering()
    play.pause_for_ask(0.25)
    play.answer_turn(Allow())
    play.claim("C")
    play.compact(cost=0.1)
    play.message(cost=0.2)
    play.claim("C")
    play.message()
    play.compact_history("p5")
    play.claim("A")
    play.compact(dropped=1, cost=0.3)
    return as_stored(play)


def calls_side_by_side() -> Log:
    """Three reads, a command, two reads of which one is lost; then a command that asks again, twice."""
    play = Play()
    play.prompt("one")
    play.claim()
    play.message(reads("r1"), reads("r2"), reads("r3"), allowed("c4"), denied("c5"), reads("r6"), reads("r7"))
    play.end_calls(("r1", Finished("ok")), ("r2", Finished("ok")), ("r3", Finished("ok")))
    play.end_call("c4", Finished("ok"))
    play.end_call("r6", Finished("ok"))
    play.claim("B")
    play.message(allowed("c8"), reads("r9"))
    for answer in (Allow(), Deny()):
        play.ask_again("c8")
        play.answer("c8", answer)
        play.claim("C")
    play.end_call("r9", Finished("ok"))
    play.message()
    return as_stored(play)


def commands_left_running() -> Log:
    """Two, of which one is stopped and the other goes with its process."""
    play = Play()
    play.prompt("one")
    play.claim()
    play.message(allowed("c1"), allowed("c2"))
    for call, number in (("c1", BackgroundId("1")), ("c2", BackgroundId("2"))):
        play.end_call(call, Finished("it runs", background=number))
    play.stop_background(BackgroundId("1"))
    play.end_background(BackgroundId("1"), StoppedBy(ANNE))
    play.message()
    play.prompt("two")
    play.claim("B", gone=[BackgroundId("2")])
    play.message()
    return as_stored(play)


def as_stored(play: Play) -> Log:
    return [{**json.loads(encode(each.event)), "seq": each.seq, "epoch": each.epoch} for each in play.log]


def test_what_the_rules_write_is_accepted() -> None:
    check_settled(whole_life())


def test_d11_x25_calls_that_ran_at_the_same_time_are_accepted() -> None:
    log = calls_side_by_side()
    check_settled(log)
    calls = [(e["kind"].removeprefix("call."), e["call_id"]) for e in log if e["kind"].startswith("call.")]
    assert calls == [
        *(("started", call) for call in ("r1", "r2", "r3")),
        *(("ended", call) for call in ("r1", "r2", "r3")),
        *(("started", "c4"), ("ended", "c4"), ("ended", "c5")),
        *(("started", "r6"), ("started", "r7"), ("ended", "r6"), ("ended", "r7")),
        *(("started", "c8"), ("asked", "c8"), ("started", "c8"), ("asked", "c8"), ("ended", "c8")),
        *(("started", "r9"), ("ended", "r9")),
    ]


def test_d17_what_the_rules_write_of_background_commands_is_accepted() -> None:
    log = commands_left_running()
    check_settled(log)
    check_background_over(log)


def check_all(log: Log) -> None:
    check_log([{**event, "seq": number} for number, event in enumerate(log, 1)])
    check_background_over(log)


OF_BACKGROUND: list[tuple[Callable[[Log], object], str]] = [
    (lambda log: changed(log, "call.ended", 1, outcome={"type": "finished", "background": "1"}), "1 is the 2"),
    (lambda log: copied(log, "background.ended", "turn.ended", 1), "background.ended of 1, which does not run"),
    (lambda log: changed(log, "background.ended", 1, background_id="3"), "ended of 3, which does not run"),
    (lambda log: moved(log, "background.stop_requested", 0, "turn.ended"), "stop_requested of 1, which"),
    (lambda log: log.remove(log[place(log, "background.ended", 1)]), r"\['1', '2'\] were started, \['1'\] ended"),
]


@pytest.mark.parametrize(("tamper", "broken"), OF_BACKGROUND)
def test_d17_what_the_rules_would_never_write_of_them_is_noticed(
    tamper: Callable[[Log], object], broken: str
) -> None:
    log = commands_left_running()
    tamper(log)
    with pytest.raises(BrokenPromise, match=broken):
        check_all(log)


def place(log: Log, kind: str, which: int = 0) -> int:
    return [number for number, event in enumerate(log) if event["kind"] == kind][which]


def moved(log: Log, kind: str, which: int, to: str, at: int = 0) -> None:
    insert(log, log.pop(place(log, kind, which)), place(log, to, at))


def copied(log: Log, kind: str, to: str, at: int = 0) -> None:
    insert(log, log[place(log, kind)], place(log, to, at))


def insert(log: Log, event: dict[str, Any], number: int) -> None:
    log.insert(number, {**event, "epoch": log[number - 1]["epoch"]})


def changed(log: Log, kind: str, which: int, **fields: object) -> None:
    log[place(log, kind, which)] |= fields


TAMPERED: list[tuple[Callable[[Log], object], str]] = [
    (lambda log: log.pop(3), "holes"),
    (lambda log: copied(log, "prompt.taken", "session.claimed", 2), "prompt.taken of a prompt that did not wait"),
    (lambda log: copied(log, "prompt.recalled", "session.claimed", 2), "prompt.recalled of a prompt"),
    (lambda log: changed(log, "turn.started", 1, prompt_id="s1"), "turn.started of a prompt that did not wait"),
    (lambda log: copied(log, "prompt.edited", "turn.ended", 1), "edited that did not wait"),
    (lambda log: changed(log, "prompt.edited", 0, text="five"), "with other words"),
    (lambda log: changed(log, "prompt.edited", 0, by={"who": "anne", "via": "web"}), "in the name of somebody else"),
    (lambda log: changed(log, "prompt.taken", 0, text="rather s1"), "with other words"),
    (lambda log: changed(log, "prompt.admitted", 2, steer=False), "not to steer"),
    (lambda log: moved(log, "prompt.taken", 1, "prompt.taken"), "taken out of order"),
    (lambda log: moved(log, "prompt.taken", 0, "call.ended"), "before every call had its end"),
    (lambda log: changed(log, "prompt.taken", 1, turn_id="other"), "outside of its turn"),
    (lambda log: moved(log, "history.compacted", 0, "call.ended"), "before every call had its end"),
    (lambda log: changed(log, "history.compacted", 0, dropped=5), "more was summed up"),
    (lambda log: changed(log, "history.compacted", 1, dropped=5), "more was summed up"),
    (lambda log: changed(log, "turn.ended", 0, cost=0.5), "a turn cost"),
    (lambda log: changed(log, "turn.ended", 2, usage={}), "a turn cost"),
    (lambda log: changed(log, "prompt.admitted", 1, prompt_id="p9"), "did not wait"),
    (lambda log: log.append({"kind": "prompt.admitted", "prompt_id": "p9", "text": "?", "epoch": 9}), "had no turn"),
]


@pytest.mark.parametrize(("tamper", "broken"), TAMPERED)
def test_what_the_rules_would_never_write_is_noticed(tamper: Callable[[Log], object], broken: str) -> None:
    log = whole_life()
    tamper(log)
    for seq, event in enumerate(log, 1):
        event["seq"] = event["seq"] if broken == "holes" else seq
    with pytest.raises(BrokenPromise, match=broken):
        check_settled(log)


def need_of(log: Log, call: str, **fields: object) -> None:
    """What was judged is said to be something else."""
    (judged,) = [each for e in log if e["kind"] == "batch.opened" for each in e["judged"] if each["call_id"] == call]
    judged["need"] = {**judged["need"], **fields}


TAMPERED_CALLS: list[tuple[Callable[[Log], object], str]] = [
    (lambda log: need_of(log, "r1", kind="edit"), "changes something started beside another"),
    (lambda log: need_of(log, "r3", kind="edit"), "changes something started beside another"),
    (lambda log: need_of(log, "r2", command="ls"), "changes something started beside another"),
    (lambda log: need_of(log, "r7", kind="mcp"), "changes something started beside another"),
    (lambda log: moved(log, "call.started", 3, "call.ended"), "changes something started beside another"),
    (lambda log: moved(log, "call.started", 3, "call.ended", 2), "a call started while another ran"),
    (lambda log: moved(log, "call.started", 2, "call.ended", 1), "a call started while another ran"),
    (lambda log: moved(log, "call.started", 4, "call.ended", 3), "changes something started beside another"),
    (lambda log: moved(log, "call.started", 1, "call.started"), "calls ran out of order"),
    (lambda log: moved(log, "call.ended", 1, "call.ended"), "calls ended out of order"),
    (lambda log: moved(log, "call.ended", 4, "call.ended", 3), "calls ended out of order"),
    (lambda log: changed(log, "call.started", 0, call_id="r0"), "calls ran out of order"),
    (lambda log: moved(log, "call.started", 0, "batch.opened"), "outside of its batch"),
    (lambda log: copied(log, "call.started", "call.ended", 3), "call.started more than once"),
    (lambda log: changed(log, "call.ended", 6, outcome={"type": "finished", "output": "ok"}), "did not start it"),
    (lambda log: changed(log, "call.asked", 0, call_id="r9"), "asked that did not run"),
]


@pytest.mark.parametrize(("tamper", "broken"), TAMPERED_CALLS)
def test_c13_d03_x25_calls_that_never_should_run_at_the_same_time_are_noticed(
    tamper: Callable[[Log], object], broken: str
) -> None:
    log = calls_side_by_side()
    tamper(log)
    for seq, event in enumerate(log, 1):
        event["seq"] = seq
    with pytest.raises(BrokenPromise, match=broken):
        check_settled(log)


def test_x08_a_turn_starts_with_the_oldest_prompt() -> None:
    play = Play()
    for name in ("p1", "p2"):
        play.prompt(name, name)
    play.claim()
    log = as_stored(play)
    check_log(log)
    changed(log, "turn.started", 0, prompt_id="p2", text="p2")
    with pytest.raises(BrokenPromise, match="did not run in order"):
        check_log(log)


def messages_handed_in() -> Log:
    """A call and its result stand in messages of the agent's program, the words and the end do too."""
    play = Play()
    play.prompt("one")
    play.claim(blocking=True)
    play.keep(play.kept("m1", calls=("c1",)))
    play.propose(allowed("c1"))
    play.keep(play.kept("m2", results=("c1",)))
    play.hear(allowed("c1"), Finished("ok"))
    play.keep(play.kept("m3"), play.kept("m4", is_last=True))
    play.message(name="m3")
    return as_stored(play)


def test_b56_what_an_agent_hands_in_is_accepted() -> None:
    log = messages_handed_in()
    check_settled(log)
    assert [e["kind"] for e in log if e.get("verbatim")] == [
        *("call.proposed", "call.ended", "message.added", "turn.ended")
    ]


def test_a_call_that_is_proposed_twice_is_noticed() -> None:
    log = messages_handed_in()
    copied(log, "call.proposed", "call.ended")
    with pytest.raises(BrokenPromise, match=r"call.proposed more than once: \['c1'\]"):
        check_log([{**event, "seq": number} for number, event in enumerate(log, 1)])


@pytest.mark.parametrize("kind", ["call.proposed", "call.ended", "message.added", "turn.ended"])
def test_b56_what_is_shown_twice_or_not_at_all_is_noticed(kind: str) -> None:
    log = messages_handed_in()
    twice = [{**e, "verbatim": False} if e["kind"] == kind else e for e in log]
    with pytest.raises(BrokenPromise, match="shown twice or not at all"):
        check_log(twice)
    never = [e for e in log if e["kind"] != "message.kept"]
    with pytest.raises(BrokenPromise, match="shown twice or not at all"):
        check_log([{**e, "seq": place} for place, e in enumerate(never, 1)])
