"""Calls next to each other that only read start together; everything else starts alone, in the message's order.

A batch is written as a word, one letter for each call: r reads, w writes, c runs a command, l runs a command that is
said to read, n uses the network, m another program, d may not read, x cannot run at all, a asks before it reads,
A before it runs, q asks a question. An append is written as what it does to the calls, by their numbers: + starts,
- ends what ran, ! ends what never started, ? ends what was lost.
"""

import re
from itertools import product

import pytest
from msgspec.structs import replace

from coderelay.protocol.asks import Allow, Answers, Decision, Deny, PermissionAsk
from coderelay.protocol.calls import Failed, Finished, Need, Outcome, Stopped, Unknown
from coderelay.protocol.events import CallEnded, CallStarted, Recorded
from coderelay.protocol.ids import CallId
from coderelay.session.fold import fold
from coderelay.session.model_messages import ToolMessage, transcript
from coderelay.session.next_action import EndTurn, RunCall, next_action
from coderelay.session.turn_event_builder import calls_to_run, concurrent_calls
from tests.session.played_session import SESSION, Play
from tests.session.proposed_calls import COLOUR, MAKE, Proposed, broken, questions

READ = Need(tool="read", kind="read", title="a.py", paths=("a.py",))
OK = Finished("ok")

KINDS: dict[str, Proposed] = {
    "r": Proposed(CallId("r"), READ, "allow"),
    "w": Proposed(CallId("w"), Need(tool="write", kind="edit", title="a.py", paths=("a.py",)), "allow"),
    "c": Proposed(CallId("c"), MAKE, "allow"),
    "l": Proposed(CallId("l"), Need(tool="bash", kind="read", title="ls", command="ls"), "allow"),
    "n": Proposed(CallId("n"), Need(tool="web_fetch", kind="network", title="a page"), "allow"),
    "m": Proposed(CallId("m"), Need(tool="mcp__git__log", kind="mcp", title="log"), "allow"),
    "d": Proposed(CallId("d"), READ, "deny"),
    "x": broken("x"),
    "a": Proposed(CallId("a"), READ, "ask"),
    "A": Proposed(CallId("A"), MAKE, "ask"),
    "q": questions("q"),
}


def opened(word: str) -> tuple[Play, list[str]]:
    """A batch in an open turn, and its first append."""
    play = Play()
    play.prompt("go")
    play.claim()
    calls = [replace(KINDS[letter], id=CallId(str(number))) for number, letter in enumerate(word, 1)]
    return play, told(play, play.message(*calls))


def answered(word: str, decision: Decision) -> tuple[Play, list[str]]:
    """A batch that had asked, and the append of the next owner. Every permission gets the same answer."""
    play, first = opened(word)
    assert first == []
    for ask in play.state.open_asks():
        play.decide_on(ask.id, decision if isinstance(ask, PermissionAsk) else Answers({COLOUR.question: "Red"}))
    return play, told(play, play.claim("B"))


def told(play: Play, page: list[Recorded]) -> list[str]:
    """What an append says of calls."""
    began = {event.call_id for event in play.events() if isinstance(event, CallStarted)}
    words: list[str] = []
    for event in (each.event for each in page):
        if isinstance(event, CallStarted):
            words.append(f"+{event.call_id}")
        elif isinstance(event, CallEnded):
            sign = "?" if event.outcome == Unknown() else "-" if event.call_id in began else "!"
            words.append(f"{sign}{event.call_id}")
    return words


def end(play: Play, *calls: int, outcome: Outcome = OK) -> list[str]:
    return told(play, play.end_calls(*((str(call), outcome) for call in calls)))


def running(play: Play) -> list[int]:
    return [int(each.call.id) for each in play.state.open_calls() if each.started_epoch is not None]


def carried_out(play: Play, first: list[str]) -> list[str]:
    """Every append to the end of the batch, with all that runs at the same time ending together."""
    appends = [first]
    while play.state.open_calls():
        appends.append(end(play, *running(play)))
    assert fold(SESSION, play.log) == play.state
    return [" ".join(append) for append in appends]


ALL_ALLOWED: list[tuple[str, list[str]]] = [
    ("r", ["+1", "-1"]),
    ("rr", ["+1 +2", "-1 -2"]),
    ("rrrr", ["+1 +2 +3 +4", "-1 -2 -3 -4"]),
    ("rrw", ["+1 +2", "-1 -2 +3", "-3"]),
    ("wrr", ["+1", "-1 +2 +3", "-2 -3"]),
    ("rwr", ["+1", "-1 +2", "-2 +3", "-3"]),
    ("crrc", ["+1", "-1 +2 +3", "-2 -3 +4", "-4"]),
    ("rrwrr", ["+1 +2", "-1 -2 +3", "-3 +4 +5", "-4 -5"]),
    ("ww", ["+1", "-1 +2", "-2"]),
    ("cc", ["+1", "-1 +2", "-2"]),
    ("nn", ["+1", "-1 +2", "-2"]),
    ("mm", ["+1", "-1 +2", "-2"]),
    ("wcnm", ["+1", "-1 +2", "-2 +3", "-3 +4", "-4"]),
    ("ll", ["+1", "-1 +2", "-2"]),  # nobody knows what a command does
    ("rlr", ["+1", "-1 +2", "-2 +3", "-3"]),
]
REFUSED_IN_BETWEEN: list[tuple[str, list[str]]] = [
    ("d", ["!1"]),
    ("dxd", ["!1 !2 !3"]),
    ("drr", ["!1 +2 +3", "-2 -3"]),
    ("xrr", ["!1 +2 +3", "-2 -3"]),
    ("rrd", ["+1 +2", "-1 -2 !3"]),
    ("rrx", ["+1 +2", "-1 -2 !3"]),
    ("rdr", ["+1", "-1 !2 +3", "-3"]),
    ("rxdrr", ["+1", "-1 !2 !3 +4 +5", "-4 -5"]),
    ("rrdwdrr", ["+1 +2", "-1 -2 !3 +4", "-4 !5 +6 +7", "-6 -7"]),
]


@pytest.mark.quick
@pytest.mark.parametrize(("word", "appends"), ALL_ALLOWED)
def test_c13_d03_calls_that_only_read_start_together(word: str, appends: list[str]) -> None:
    assert carried_out(*opened(word)) == appends


@pytest.mark.quick
@pytest.mark.parametrize(("word", "appends"), REFUSED_IN_BETWEEN)
def test_c13_d03_what_may_not_run_parts_the_reads_and_ends_in_its_place(word: str, appends: list[str]) -> None:
    assert carried_out(*opened(word)) == appends


ANSWERED: list[tuple[str, Decision, list[str]]] = [
    ("a", Allow(), ["+1", "-1"]),
    ("rar", Allow(), ["+1 +2 +3", "-1 -2 -3"]),
    ("rar", Deny(), ["+1", "-1 !2 +3", "-3"]),
    ("aa", Allow(), ["+1 +2", "-1 -2"]),
    ("aar", Deny(), ["!1 !2 +3", "-3"]),
    ("Arr", Allow(), ["+1", "-1 +2 +3", "-2 -3"]),
    ("Arr", Deny(), ["!1 +2 +3", "-2 -3"]),
    ("rrA", Allow(), ["+1 +2", "-1 -2 +3", "-3"]),
    ("rrA", Deny(), ["+1 +2", "-1 -2 !3"]),
    ("rrArr", Allow(), ["+1 +2", "-1 -2 +3", "-3 +4 +5", "-4 -5"]),
    ("rrArr", Deny(), ["+1 +2", "-1 -2 !3 +4 +5", "-4 -5"]),
    ("rqr", Deny(), ["+1", "-1 !2 +3", "-3"]),
    ("qrr", Deny(), ["!1 +2 +3", "-2 -3"]),
]


@pytest.mark.quick
@pytest.mark.parametrize(("word", "decision", "appends"), ANSWERED)
def test_d02_d03_d22_after_the_answers_the_same_calls_start_together(
    word: str, decision: Decision, appends: list[str]
) -> None:
    assert carried_out(*answered(word, decision)) == appends


@pytest.mark.quick
def test_d11_the_last_of_a_group_that_still_runs_may_ask_again() -> None:
    play, _ = opened("rrr")
    end(play, 1, 2)
    play.ask_again("3")
    play.answer("3", Allow())
    assert carried_out(play, told(play, play.claim("B"))) == ["+3", "-3"]


@pytest.mark.quick
def test_d11_reads_behind_a_call_that_asked_again_wait_for_it() -> None:
    play, _ = opened("crr")
    play.ask_again("1")
    assert running(play) == []
    play.answer("1", Allow())
    assert carried_out(play, told(play, play.claim("B"))) == ["+1", "-1 +2 +3", "-2 -3"]


@pytest.mark.quick
@pytest.mark.parametrize("count", [1, 2, 5, 40])
def test_c13_a_step_of_reads_costs_two_commits(count: int) -> None:
    assert len(carried_out(*opened("r" * count))) == 2


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_c13_a_step_costs_one_commit_and_one_for_each_group(length: int) -> None:
    for letters in product("rwd", repeat=length):
        word = "".join(letters)
        assert len(carried_out(*opened(word))) == 1 + len(re.findall("r+|w", word)), word


@pytest.mark.quick
def test_d03_what_comes_next_starts_with_the_last_end_of_the_group() -> None:
    play, _ = opened("rrrdwr")
    assert [end(play, 1), end(play, 2), end(play, 3), end(play, 5)] == [
        ["-1"],
        ["-2"],
        ["-3", "!4", "+5"],
        ["-5", "+6"],
    ]


@pytest.mark.quick
def test_d03_a_failure_in_the_group_holds_nothing_up() -> None:
    play, _ = opened("rrw")
    page = play.end_calls(("1", Failed("no such file")), ("2", OK))
    assert told(play, page) == ["-1", "-2", "+3"]


@pytest.mark.quick
def test_the_results_are_told_in_the_order_of_the_calls() -> None:
    play, _ = opened("rrr")
    play.end_calls(("1", Finished("one")), ("2", Failed("two")), ("3", Finished("three")))
    results = [each.text for each in transcript(play.state) if isinstance(each, ToolMessage)]
    assert results == ["one", "Error: two", "three"]


@pytest.mark.quick
@pytest.mark.parametrize("outcome", [Unknown(), Stopped(started=True)])
def test_a_group_of_which_one_was_cut_short_starts_no_other(outcome: Outcome) -> None:
    play, _ = opened("rrdrr")
    told(play, play.end_calls(("1", OK), ("2", outcome)))
    assert (running(play), next_action(play.state)) == ([], RunCall(CallId("4")))
    assert [each.call.id for each in calls_to_run(play.state)] == ["4", "5"]
    assert told(play, play.start_calls("4", "5")) == ["+4", "+5"]
    assert [each.call.id for each in calls_to_run(play.state)] == ["4", "5"]


@pytest.mark.quick
def test_what_runs_now_is_what_has_started() -> None:
    play, _ = opened("rrr")
    end(play, 1)
    assert [each.call.id for each in calls_to_run(play.state)] == ["2", "3"]
    assert play.start_calls("2", "3") == []


@pytest.mark.quick
def test_nothing_stands_beside_nothing() -> None:
    assert concurrent_calls([]) == []


LOST: list[tuple[str, tuple[int, ...], list[str]]] = [
    ("rr", (), ["?1", "?2"]),
    ("rrw", (), ["?1", "?2", "+3"]),
    ("rrrw", (1,), ["?2", "?3", "+4"]),
    ("rrrw", (1, 2), ["?3", "+4"]),
    ("rrdrr", (), ["?1", "?2", "!3", "+4", "+5"]),
    ("rrdrr", (1,), ["?2", "!3", "+4", "+5"]),
    ("rrdrrw", (1, 2), ["?4", "?5", "+6"]),
    ("wrr", (), ["?1", "+2", "+3"]),
]


@pytest.mark.quick
@pytest.mark.parametrize(("word", "ended", "append"), LOST)
def test_x25_a_claim_in_the_middle_of_a_group_loses_what_runs_and_goes_on(
    word: str, ended: tuple[int, ...], append: list[str]
) -> None:
    play, _ = opened(word)
    if ended:
        end(play, *ended)
    page = told(play, play.claim("B"))
    assert page == append
    carried_out(play, page)
    starts = [event.call_id for event in play.events() if isinstance(event, CallStarted)]
    assert starts == sorted(set(starts))


@pytest.mark.quick
def test_x25_claim_after_claim_loses_one_group_each() -> None:
    play, first = opened("rrwrr")
    assert [first, *(told(play, play.claim(owner)) for owner in "BCDE")] == [
        ["+1", "+2"],
        ["?1", "?2", "+3"],
        ["?3", "+4", "+5"],
        ["?4", "?5"],
        [],
    ]


@pytest.mark.quick
def test_x25_the_next_owner_starts_what_the_last_one_left() -> None:
    play, _ = opened("wrr")
    assert end(play, 1, outcome=Unknown()) == ["?1"]
    assert told(play, play.claim("B")) == ["+2", "+3"]


@pytest.mark.quick
def test_x12_a_stop_lets_what_runs_end_and_nothing_start() -> None:
    play, _ = opened("rrwr")
    play.stop()
    page = play.end_calls(("1", OK), ("2", Stopped(started=True)))
    assert (told(play, page), next_action(play.state)) == (["-1", "-2"], EndTurn(stopped=True))
    assert told(play, play.close("stopped")) == ["!3", "!4"]


@pytest.mark.quick
def test_x12_a_stopped_group_whose_process_died_is_unknown() -> None:
    play, _ = opened("rrwr")
    end(play, 1)
    play.stop()
    assert told(play, play.claim("B")) == ["?2", "!3", "!4"]
    assert (play.state.calls[CallId("4")].outcome, play.state.turn) == (Stopped(started=False), None)


@pytest.mark.quick
def test_x12_reads_that_meet_a_stop_do_not_start() -> None:
    play = Play()
    play.prompt("go")
    play.claim()
    play.stop()
    assert told(play, play.message(KINDS["r"])) == []


@pytest.mark.quick
def test_a_turn_that_fails_does_not_know_how_its_reads_ended() -> None:
    play, _ = opened("rrw")
    assert told(play, play.close("failed", "boom")) == ["?1", "?2", "!3"]
