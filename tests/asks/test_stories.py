"""Asks across processes that die: answered from anywhere, acted on once, in order."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.asks.scene import Scene
from tests.plain_terminal import terminal


@pytest.mark.quick
def test_d02_d03_d21_three_processes_open_answer_and_resume(scene: Scene) -> None:
    """Opened by one that is killed, one answer by one that is killed, the rest by a third."""
    first, second, third = scene.open(CODER_CRASH="after:batch.opened:1")
    assert scene.answer(second, "allow", CODER_CRASH="after:ask.answered:1").code == -9
    assert scene.effects() == []
    assert scene.asks() == [first, third]
    waits = scene.answer(third, "allow")
    assert (waits.code, waits.out.splitlines()[1].split("  ")[0]) == (5, f"waiting for an answer: {first}")
    done = scene.answer(first, "allow")
    assert (done.code, done.out.splitlines()[-1]) == (0, "done it: ran, ran, ran")
    assert scene.effects() == ["ita", "itb", "itc"]
    assert len(scene.kinds("batch.resumed")) == 1
    scene.check()


@pytest.mark.parametrize("arrow", ["before:ask.answered:1", "after:ask.answered:1"])
def test_d03_killed_at_the_last_answer(scene: Scene, arrow: str) -> None:
    first, second, third = scene.open()
    scene.answer(first, "allow")
    scene.answer(second, "allow")
    assert scene.answer(third, "allow", CODER_CRASH=arrow).code == -9
    for ask in scene.asks():
        scene.answer(ask, "allow")
    assert scene.run("-p", "do more", "--continue", "--unattended", "allow").code == 0
    assert scene.effects() == ["ita", "itb", "itc", "morea", "moreb", "morec"]
    scene.check()


@pytest.mark.parametrize("arrow", [f"{side}:tool.ran:{n}" for side in ("before", "after") for n in (1, 2, 3)])
def test_x25_killed_while_it_resumes(scene: Scene, arrow: str) -> None:
    first, second, third = scene.open()
    scene.answer(first, "allow")
    scene.answer(third, "allow")
    assert scene.answer(second, "allow", CODER_CRASH=arrow).code == -9
    assert scene.run("-p", "do more", "--continue", "--unattended", "allow").code == 0
    assert scene.results().count("unknown") == 1
    assert len(scene.kinds("batch.resumed")) == 2
    scene.check()


def test_d22_x03_one_denial_leaves_the_rest(scene: Scene) -> None:
    first, second, third = scene.open()
    scene.answer(second, "deny")
    scene.answer(first, "allow")
    done = scene.answer(third, "allow")
    assert done.out.endswith("done it: ran, denied, ran\n")
    assert scene.effects() == ["ita", "itc"]
    scene.check()


def test_x03_deny_and_stop_ends_the_turn_and_late_answers_are_told(scene: Scene) -> None:
    first, second, _ = scene.open()
    assert scene.answer(second, "stop").code in (0, 130)
    assert scene.effects() == []
    assert scene.kinds("turn.ended")[0]["ending"] == "stopped"
    late = scene.answer(first, "allow")
    assert (late.code, late.out) == (1, "too late: its turn has ended\n")
    assert "(cli) already answered: denyandstop" in scene.answer(second, "allow").out
    scene.check()


def test_promise_4_the_same_answer_twice_and_another_one_later(scene: Scene) -> None:
    first, second, third = scene.open()
    scene.answer(first, "allow")
    for word in ("allow", "deny"):
        again = scene.answer(first, word)
        assert (again.code, again.out.endswith("(cli) already answered: allow\n")) == (1, True)
    scene.answer(second, "deny")
    scene.answer(third, "allow")
    assert scene.effects() == ["ita", "itc"]
    scene.check()


def test_promise_4_conflicting_answers_at_once_one_wins(scene: Scene) -> None:
    first, second, third = scene.open()
    scene.answer(second, "deny")
    scene.answer(third, "deny")
    both = [scene.start("answer", first, word) for word in ("allow", "deny")]
    ran = [each.wait() for each in both]
    assert sorted(each.code for each in ran) == [0, 1]
    assert len([e for e in scene.kinds("ask.answered") if e["ask_id"] == first]) == 1
    assert scene.effects() == (["ita"] if ran[0].code == 0 else [])
    scene.check()


def test_an_answer_where_nothing_can_run_waits_for_a_host(scene: Scene) -> None:
    first, second, third = scene.open()
    scene.answer(first, "allow")
    scene.answer(second, "allow")
    without_key = scene.answer(third, "allow", OPENAI_API_KEY="")
    assert without_key.code == 0
    assert "interrupted; no API key for openai:scripted" in without_key.out
    assert "interrupted; " in scene.coder.run("sessions", env={"OPENAI_API_KEY": ""}).out
    assert scene.effects() == []
    assert scene.run("-p", "do more", "--continue", "--unattended", "allow").code == 0
    assert scene.effects()[:3] == ["ita", "itb", "itc"]
    scene.check()


def test_an_answer_where_the_folder_is_gone_waits_for_a_host(scene: Scene, tmp_path: Path) -> None:
    first, second, third = scene.open()
    moved = scene.coder.cwd.rename(tmp_path / "elsewhere")
    scene.coder.cwd = tmp_path
    for ask in (first, second):
        scene.answer(ask, "allow")
    gone = scene.answer(third, "allow")
    assert gone.code == 0
    assert "interrupted; its folder" in gone.out
    scene.coder.cwd = moved.rename(tmp_path / "work")
    assert scene.run("-p", "do more", "--continue", "--unattended", "allow").code == 0
    assert scene.effects()[:3] == ["ita", "itb", "itc"]
    scene.check()


def test_two_prompts_at_once_on_one_session_each_run_once(scene: Scene) -> None:
    assert scene.run("-p", "do zero", "--unattended", "allow").code == 0
    both = [
        scene.start("-p", f"do {name}", "--continue", "--unattended", "allow", "--mode", "yolo")
        for name in ("one", "two")
    ]
    ran = [each.wait() for each in both]
    assert [each.code for each in ran] == [0, 0]
    assert [each.out for each in ran] == ["done one: ran, ran, ran\n", "done two: ran, ran, ran\n"]
    assert len(scene.effects()) == 9
    scene.check()


def test_an_ask_opened_in_the_terminal_is_answered_by_another_coder(scene: Scene) -> None:
    with terminal(scene.coder) as screen:
        screen.wait_for("> ")
        screen.type("do it\n")
        screen.wait_for("s(top) > ")
        asks = scene.asks()
        for ask in asks[:2]:
            assert scene.run("answer", ask, "allow", "--no-wait").code == 0
            assert "(answered by " in screen.wait_for("s(top) > ")
        screen.type("y\n")
        screen.wait_for("done it: ran, ran, ran\n> ")
        scene.check()


def test_a_deleted_session_takes_its_asks_along(scene: Scene) -> None:
    first, *_ = scene.open()
    (row, *_) = scene.rows()
    assert scene.coder.run("sessions", "delete", row["session"]).code == 0
    late = scene.answer(first, "allow")
    assert (late.code, late.err) == (1, f"coder: Unknown ask {first}\n")
    assert scene.effects() == []


def test_asks_lists_what_waits_with_everything_one_needs(scene: Scene) -> None:
    scene.open()
    line, *_ = scene.coder.run("asks").out.splitlines()
    assert "bash: echo ita >> effects" in line
    assert f"(do it, {scene.coder.cwd})" in line
    (row, *_) = scene.rows()
    assert row["ask"]["need"]["command"].startswith("echo ita")


def test_a_wrong_word_leaves_the_ask_open(scene: Scene) -> None:
    first, *_ = scene.open()
    ran = scene.answer(first, "maybe")
    assert ran.code == 1
    assert "'maybe' is not a valid answer" in ran.err
    assert first in scene.asks()
    too_short = scene.answer(first[:9], "allow")
    assert "matches 3 ids" in too_short.err


def test_d20_remembered_for_the_folder_listed_and_revoked(scene: Scene) -> None:
    first, second, third = scene.open()
    scene.answer(first, "project")
    scene.answer(second, "person")
    scene.answer(third, "session")
    listed = scene.coder.run("permissions", "list").out.splitlines()
    assert [line.split(": ")[1].split(" ")[1] for line in listed] == ["ita", "itb"]
    assert scene.run("-p", "do it", "--continue").code == 0
    assert scene.effects() == ["ita", "itb", "itc"] * 2
    elsewhere = scene.run("-p", "do it")
    assert (elsewhere.code, elsewhere.out) == (3, "done it: ran, ran, denied\n")
    for line in listed:
        assert scene.coder.run("permissions", "revoke", line.split()[0]).code == 0
    assert scene.run("-p", "do it").out == "done it: denied, denied, denied\n"
    again = scene.coder.run("permissions", "revoke", listed[0].split()[0])
    assert (again.code, "Unknown approval" in again.err) == (1, True)


def test_json_of_asks_is_one_object_per_line(scene: Scene) -> None:
    scene.open()
    lines = scene.coder.run("asks", "--json").out.splitlines()
    assert [json.loads(line)["ask"]["type"] for line in lines] == ["permission"] * 3


def test_a_damaged_session_does_not_hide_the_asks_of_others(scene: Scene) -> None:
    scene.open("do damaged")
    scene.open("do whole")
    database = sqlite3.connect(scene.coder.home / "sessions.db")
    with database:
        database.execute(
            "UPDATE event SET body = '{' WHERE kind = 'batch.opened' AND session_id ="
            " (SELECT id FROM sessions WHERE title = 'do damaged')"
        )
        database.execute("UPDATE sessions SET summary = json_remove(summary, '$.asks')")  # so that the log is read
    database.close()
    listed = scene.coder.run("asks")
    assert (listed.code, listed.out.count("(do whole, "), listed.out.count("(do damaged, ")) == (0, 3, 0)
    assert "is damaged" in listed.err


def test_promise_7_what_another_process_carries_on_is_judged_anew(scene: Scene) -> None:
    """Symptom: calls allowed in yolo ran after the session had been put into a stricter mode."""
    killed = scene.run("-p", "do it", "--mode", "yolo", CODER_CRASH="before:tool.ran:1")
    assert killed.code == -9
    (scene.coder.home / "config.json").write_text('{"permissions.deny": ["bash(echo)"]}')
    stricter = scene.run("-p", "do more", "--continue", "--mode", "auto-edit")
    assert stricter.out == "done more: denied, denied, denied\n"
    first, *others = [each["outcome"]["type"] for each in scene.kinds("call.ended")]
    assert (first, set(others)) == ("unknown", {"denied"})
    assert [each["call_id"] for each in scene.kinds("call.started")] == [scene.kinds("call.ended")[0]["call_id"]]
    assert scene.effects() == []
    scene.check()


def test_promise_7_an_answer_does_not_help_against_a_rule_that_came_later(scene: Scene) -> None:
    asks = scene.open()
    (scene.coder.home / "config.json").write_text('{"permissions.deny": ["bash(echo)"]}')
    done = [scene.answer(ask, "allow") for ask in asks][-1]
    assert done.out.endswith("done it: denied, denied, denied\n")
    assert scene.effects() == []
    scene.check()
