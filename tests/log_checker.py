"""Is this log one that the promises allow? Reads the database file as an outside program would."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Event = dict[str, Any]


class BrokenPromise(AssertionError):
    pass


def read_logs(database: Path) -> dict[str, list[Event]]:
    """Every session's events, each with its `seq` and `epoch`. Checks the file first."""
    connection = sqlite3.connect(database)  # writable, so that what a killed process left is rolled back
    try:
        (integrity,) = connection.execute("PRAGMA integrity_check").fetchone()
        _promise(integrity == "ok", f"the database is damaged: {integrity}")
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'event'").fetchone():
            return {}  # killed before the schema was there
        rows = connection.execute("SELECT session_id, seq, epoch, body FROM event ORDER BY session_id, seq")
        logs: dict[str, list[Event]] = {}
        for session, seq, epoch, body in rows:
            logs.setdefault(session, []).append({**json.loads(body), "seq": seq, "epoch": epoch})
        return logs
    finally:
        connection.close()


def check_log(log: Sequence[Event]) -> None:
    """Numbers without holes; prompts and calls at most once and in order; one owner; turns whole."""
    _promise([e["seq"] for e in log] == list(range(1, len(log) + 1)), "the numbers have holes")
    epochs = [e["epoch"] for e in log]
    _promise(epochs == sorted(epochs), "an older epoch wrote after a newer one")
    again = Counter(e["call_id"] for e in _of(log, "call.asked"))
    _once("call.started", (e["call_id"] for e in _of(log, "call.started")), again)
    _once("call.ended", (e["call_id"] for e in _of(log, "call.ended")))
    _once("call.proposed", (call["id"] for call in _proposed(log)))
    _once("turn.ended", (e["turn_id"] for e in _of(log, "turn.ended")))
    waits = Counter(e["batch_id"] for e in _of(log, "call.asked"))
    waits.update(e["batch_id"] for e in _of(log, "call.proposed") if "ask" in e["judged"])
    _once("batch.resumed", (e["batch_id"] for e in _of(log, "batch.resumed")), waits)
    _once("ask.answered", (e["ask_id"] for e in _of(log, "ask.answered")))
    _check_prompts(log)
    _check_steps(log)
    _check_order_of_calls(log)
    _check_running_calls(log)
    _check_proposed_calls(log)
    _check_kept_messages(log)
    _check_background(log)


def check_settled(log: Sequence[Event]) -> None:
    """Nothing is left open: every prompt had its turn or joined one, every turn and every call has its end."""
    check_log(log)
    left = {e["prompt_id"] for kind in _LEAVING for e in _of(log, kind)}
    _promise(all(e["prompt_id"] in left for e in _of(log, "prompt.admitted")), "a prompt had no turn")
    started = [e["turn_id"] for e in _of(log, "turn.started")]
    _promise([e["turn_id"] for e in _of(log, "turn.ended")] == started, "a turn has no end")
    proposed = [call["id"] for call in (*_calls(log), *_proposed(log))]
    ended = [e["call_id"] for e in _of(log, "call.ended")]
    _promise(sorted(ended) == sorted(proposed), "a call has no end")


def check_effects(log: Sequence[Event], effects: Sequence[str]) -> None:
    """What really happened outside. Every command wrote its last word as one line. Calls of an agent that
    blocks may be made again under another id, and happen in any order."""
    _once("effect", effects)
    outcomes = {e["call_id"]: e["outcome"]["type"] for e in _of(log, "call.ended")}
    calls = _calls(log)
    arguments = {call["id"]: json.loads(call["arguments"]) for call in (*calls, *_proposed(log))}
    words = {name: each["command"].split()[-1] for name, each in arguments.items() if "command" in each}
    # A call that was written off may still act late, when the process that began it wakes again.
    known = [words[call["id"]] for call in calls if outcomes.get(call["id"]) != "unknown"]
    in_order = [word for word in effects if word in known]
    _promise(in_order == [word for word in known if word in effects], f"effects out of order: {effects}")
    for call_id, word in words.items():
        if outcomes.get(call_id) == "finished":
            _promise(word in effects, f"call {call_id} finished without an effect")
        if outcomes.get(call_id) == "denied":
            _promise(word not in effects, f"call {call_id} was denied and ran")


def _calls(log: Sequence[Event]) -> list[Event]:
    return [call for e in _of(log, "message.added") for call in e.get("calls", [])]


def _proposed(log: Sequence[Event]) -> list[Event]:
    return [e["call"] for e in _of(log, "call.proposed")]


def check_acknowledged(log: Sequence[Event], lines: Iterable[str]) -> None:
    """Everything a process showed as done is in the log, in the same order."""
    shown = [json.loads(line) for line in lines if line.endswith("}\n")]
    ids = [each["uuid"] for each in shown if each["type"] == "assistant"]
    kept = list(dict.fromkeys(e["message_id"] for e in log if e["kind"] in ("message.kept", "message.added")))
    positions = [kept.index(each) if each in kept else -1 for each in ids]
    _promise(-1 not in positions, "a message that was shown is lost")
    _promise(positions == sorted(positions), "messages were shown in another order")
    results = [
        block["tool_use_id"] for each in shown if each["type"] == "user" for block in each["message"]["content"]
    ]
    ended = {e["call_id"] for e in _of(log, "call.ended")}
    _promise(set(results) <= ended, "a result that was shown is lost")


_LEAVING = ("turn.started", "prompt.taken", "prompt.recalled")


def _check_prompts(log: Sequence[Event]) -> None:
    """Each waits until it is started, taken or recalled, once; the oldest is started; its last words count."""
    waiting: dict[str, Event] = {}
    for event in log:
        kind, prompt = event["kind"], event.get("prompt_id", "")
        if kind == "prompt.admitted":
            _promise(prompt not in waiting, "a prompt was admitted twice")
            waiting[prompt] = event
        elif kind == "prompt.edited":
            _promise(prompt in waiting, "a prompt was edited that did not wait")
            waiting[prompt] = {**waiting[prompt], "text": event["text"], "by": event["by"]}
        elif kind in _LEAVING:
            _promise(prompt in waiting, f"{kind} of a prompt that did not wait")
            _promise(kind != "turn.started" or prompt == next(iter(waiting)), "prompts did not run in order")
            sent = waiting.pop(prompt)
            _promise(kind == "prompt.recalled" or event["text"] == sent["text"], "a prompt ran with other words")
            _promise(kind != "turn.started" or event["by"] == sent["by"], "a prompt ran in the name of somebody else")
            steering = [each for each, of in waiting.items() if of.get("steer") and of["seq"] < sent["seq"]]
            _promise(kind != "prompt.taken" or bool(sent.get("steer")), "a prompt was taken that was not to steer")
            _promise(kind != "prompt.taken" or not steering, "prompts that steer were taken out of order")


def _check_steps(log: Sequence[Event]) -> None:
    """What the model sees changes only in a turn, when every call has its end; a turn ends with what it has cost."""
    turn, pending, entries, blocking = "", set[str](), 0, False
    spent: list[Event] = []
    for event in log:
        kind = event["kind"]
        if kind == "turn.started":
            _promise(not turn, "two turns at once")
            turn, spent, blocking = event["turn_id"], [], event.get("blocking", False)
            entries += event.get("task", "prompt") == "prompt"
        elif kind in ("message.added", "prompt.taken", "history.compacted"):
            _promise(event["turn_id"] == turn, f"{kind} outside of its turn")
            _promise(blocking or not pending, f"{kind} before every call had its end")
            pending |= {call["id"] for call in event.get("calls", [])}
            _promise(event.get("dropped", 0) <= entries, "more was summed up than there is")
            entries += 1 - event.get("dropped", 0)
            spent.append(event)
        elif kind == "call.proposed":
            _promise(blocking and event["turn_id"] == turn, "a call was proposed outside of a turn that blocks")
            pending.add(event["call"]["id"])
            entries += 1
        elif kind == "call.ended":
            pending.discard(event["call_id"])
        elif kind == "turn.ended":
            _promise(event["turn_id"] == turn and not pending, "a turn ended before its calls")
            _promise(_total(spent) == _total([event]), f"a turn cost {_total([event])}, its steps {_total(spent)}")
            turn = ""


def _total(events: Iterable[Event]) -> tuple[Counter[str], float | None]:
    usage: Counter[str] = Counter()
    cost: float | None = None
    for event in events:
        usage.update(event.get("usage", {}))
        if event.get("cost") is not None:
            cost = (cost or 0.0) + event["cost"]
    return usage, cost


def _check_order_of_calls(log: Sequence[Event]) -> None:
    """They start and end in the message's order. One that asked starts again in its place."""
    proposed = [call["id"] for call in _calls(log)]
    by_themselves = {call["id"] for call in _proposed(log)}
    for kind, done in (("call.started", "ran"), ("call.ended", "ended")):
        happened = dict.fromkeys(e["call_id"] for e in _of(log, kind) if e["call_id"] not in by_themselves)
        _promise([*happened] == [each for each in proposed if each in happened], f"calls {done} out of order")


def _check_running_calls(log: Sequence[Event]) -> None:
    """Only calls that read run at the same time, and those start at once. A call that another epoch started ends
    unknown, unless it opened a child: that one's log says how it ended."""
    needs: dict[str, Event] = {}
    running: dict[str, int] = {}
    with_child = {event["call_id"] for event in _of(log, "child.opened")}
    by_themselves = {call["id"] for call in _proposed(log)}
    last = ""
    for event in log:
        kind, call = event["kind"], event.get("call_id", "")
        if call in by_themselves:
            continue
        if kind == "batch.opened":
            needs = {each["call_id"]: each["need"] for each in event["judged"]}
        elif kind == "call.started":
            _promise(call in needs, "a call started outside of its batch")
            _promise(not running or last == kind, "a call started while another ran")
            alone = not running or all(_only_reads(needs[each]) for each in (*running, call))
            _promise(alone, "a call that changes something started beside another")
            running[call] = event["epoch"]
        elif kind == "call.asked":
            _promise(running == {call: event["epoch"]}, "a call asked that did not run, or not alone")
            running.clear()
        elif kind == "call.ended":
            mine = running.pop(call, event["epoch"]) == event["epoch"]
            unknown = event["outcome"]["type"] == "unknown"
            _promise(mine or unknown or call in with_child, "a call was ended by an owner that did not start it")
        last = kind


def _check_proposed_calls(log: Sequence[Event]) -> None:
    """What an agent that blocks proposes starts only if it is allowed or its own ask was answered with consent. A
    call that another epoch started ends unknown. An answer to a call that never ran is used once, by an equal one."""
    judged = {event["call"]["id"]: event["judged"] for event in _of(log, "call.proposed")}
    calls = {event["call"]["id"]: event["call"] for event in _of(log, "call.proposed")}
    consent: set[str] = set()
    epochs: dict[str, int] = {}
    _once("granted", (each["granted_by"] for each in judged.values() if "granted_by" in each))
    for event in log:
        kind, call = event["kind"], event.get("call_id", "")
        if kind == "ask.answered" and event["decision"]["type"] in ("allow", "answers", "plan"):
            consent.add(event["ask_id"])
        elif kind == "call.proposed" and "granted_by" in event["judged"]:
            given = event["judged"]["granted_by"]
            same = {name: calls[given][name] for name in ("name", "arguments")}
            _promise(same.items() <= event["call"].items(), "a call uses the answer to another call")
            _promise(judged[given]["ask"]["id"] in consent, "a call uses an answer that nobody gave")
            _promise(given not in epochs, "a call that may have run is made again")
        elif kind == "call.started" and call in judged:
            verdict = judged[call]
            allowed = verdict["verdict"] == "allow" or verdict.get("ask", {}).get("id") in consent
            _promise(allowed, "a call started that nobody allowed")
            epochs[call] = event["epoch"]
        elif kind == "call.ended" and call in epochs:
            mine, unknown = epochs[call] == event["epoch"], event["outcome"]["type"] == "unknown"
            _promise(mine or unknown, "a call was ended by an owner that did not start it")


def _check_kept_messages(log: Sequence[Event]) -> None:
    """What an agent handed in is there once in a turn, and marks exactly those later events that stand in it."""
    kept: set[str] = set()
    for event in log:
        kind = event["kind"]
        if kind == "turn.started":
            kept = set()
        elif kind == "message.kept":
            name = f"message {event['message_id']}"
            _promise(name not in kept, "a message is kept twice in a turn")
            kept |= {name, *(["end"] if event.get("is_last") else [])}
            kept |= {f"call {each}" for each in event.get("calls", [])}
            kept |= {f"result {each}" for each in event.get("results", [])}
        elif kind in ("message.added", "call.proposed", "call.ended", "turn.ended"):
            is_told = event.get("verbatim", False)
            _promise(is_told == (_place_in_messages(event) in kept), f"{kind} is shown twice or not at all")


def _place_in_messages(event: Event) -> str:
    match event["kind"]:
        case "message.added":
            return f"message {event['message_id']}"
        case "call.proposed":
            return f"call {event['call']['id']}"
        case "call.ended":
            return f"result {event['call_id']}"
        case _:
            return "end"


def _check_background(log: Sequence[Event]) -> None:
    """Numbered from 1 as they were started; stopped only while they run; each ends at most once."""
    running: set[str] = set()
    started = 0
    for event in log:
        kind, number = event["kind"], event.get("background_id", "")
        left = event["outcome"].get("background") if kind == "call.ended" else None
        if left is not None:
            started += 1
            _promise(left == str(started), f"background command {left} is the {started}. of the session")
            running.add(left)
        elif kind in ("background.stop_requested", "background.ended"):
            _promise(number in running, f"{kind} of {number}, which does not run")
            running -= {number} if kind == "background.ended" else set()


def check_background_over(log: Sequence[Event]) -> None:
    """Every process is gone, so every command has its end."""
    started = [e["outcome"]["background"] for e in _of(log, "call.ended") if "background" in e["outcome"]]
    ended = [e["background_id"] for e in _of(log, "background.ended")]
    _promise(sorted(started) == sorted(ended), f"background commands {started} were started, {ended} ended")


def _only_reads(need: Event) -> bool:
    """What a command does nobody knows."""
    return need["kind"] == "read" and need.get("command") is None


def _of(log: Sequence[Event], kind: str) -> list[Event]:
    return [event for event in log if event["kind"] == kind]


def _once(what: str, keys: Iterable[str], more: Mapping[str, int] | None = None) -> None:
    """Each at most once, and once more for every time in `more`."""
    allowed = more or {}
    twice = [key for key, times in Counter(keys).items() if times > 1 + allowed.get(key, 0)]
    _promise(not twice, f"{what} more than once: {twice}")


def _promise(kept: bool, broken: str) -> None:
    if not kept:
        raise BrokenPromise(broken)
