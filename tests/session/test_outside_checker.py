"""The checker that reads a log as an outside program would: it accepts what the rules write, and notices the rest."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from coderelay.protocol.asks import Allow
from coderelay.protocol.calls import Finished
from coderelay.protocol.codec import encode
from coderelay.testing.checker import BrokenPromise, check_log, check_settled
from tests.session.play import Play
from tests.session.proposals import allowed, asked

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
    play.pause_for_budget(0.25)
    play.answer_turn(Allow())
    play.claim("C")
    play.compact(cost=0.1)
    play.message(cost=0.2)
    play.claim("C")
    play.message()
    play.compact_history("p5")
    play.claim("A")
    play.compact(dropped=1, cost=0.3)
    return [{**json.loads(encode(each.event)), "seq": each.seq, "epoch": each.epoch} for each in play.log]


def test_what_the_rules_write_is_accepted() -> None:
    check_settled(whole_life())


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


def test_x08_a_turn_starts_with_the_oldest_prompt() -> None:
    play = Play()
    for name in ("p1", "p2"):
        play.prompt(name, name)
    play.claim()
    log = [{**json.loads(encode(each.event)), "seq": each.seq, "epoch": each.epoch} for each in play.log]
    check_log(log)
    changed(log, "turn.started", 0, prompt_id="p2", text="p2")
    with pytest.raises(BrokenPromise, match="did not run in order"):
        check_log(log)
