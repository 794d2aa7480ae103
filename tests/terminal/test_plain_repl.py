"""The plain line loop, at a real terminal and with lines from a pipe."""

from collections.abc import Callable
from pathlib import Path

import pytest

from coderelay.testing.model_server import without_notes
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, call, hangs, proposes, says, script, write
from tests.plain_terminal import terminal

ALLOW = "a(lways) / s(top) > "

CoderOn = Callable[[ModelServerThread], Coder]


@pytest.mark.quick
def test_plain_repl_shows_a_conversation(serve: Serve, coder_on: CoderOn) -> None:
    with terminal(coder_on(serve(script(says("hello you"), says("bye"))))) as screen:
        assert "openai:scripted · default" in screen.wait_for("\n> ")
        screen.type("hi\n")
        assert "hello you\n" in screen.wait_for("\n> ")
        screen.type("see you\n")
        screen.wait_for("bye\n")
        screen.wait_for("> ")
        screen.type("\x04")
        assert screen.wait() == 0


@pytest.mark.quick
def test_c35_an_ask_is_answered_with_y_n_or_always(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    calls = proposes(write("a", "x"), bash("touch b"), write("c", "x"))
    again = proposes(write("c", "y"))
    with terminal(coder_on(serve(script(calls, again, says("done"))))) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        assert "Create a?" in screen.wait_for(ALLOW)
        screen.type("what\n")
        screen.wait_for("'what' is not a valid answer")
        screen.wait_for(ALLOW)
        screen.type("y\n")
        assert "Run this command?\n  $ touch b\n" in screen.wait_for(ALLOW)
        screen.type("n\n")
        screen.wait_for(ALLOW)
        screen.type("always\n")
        shown = screen.wait_for("done\n")
        assert "• write a\n  created, 1 line\n  not allowed: the user denied it\n• write c\n" in shown
    assert sorted(path.name for path in folder.glob("[!.]*")) == ["a", "c"]
    assert (folder / "c").read_text() == "y"


@pytest.mark.parametrize(("answer", "made"), [("y all", ["a", "b", "c"]), ("n all", [])])
def test_c35_all_answers_a_whole_batch_at_a_plain_terminal(
    serve: Serve, coder_on: CoderOn, folder: Path, answer: str, made: list[str]
) -> None:
    calls = proposes(write("a", "x"), bash("touch b"), write("c", "x"))
    with terminal(coder_on(serve(script(calls, says("done"))))) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        screen.wait_for(ALLOW)
        screen.type(f"{answer}\n")
        screen.wait_for("done\n")
    assert sorted(path.name for path in folder.glob("[!.]*")) == made


@pytest.mark.quick
def test_b58_an_answer_that_is_none_does_not_lose_the_ones_before(serve: Serve, coder_on: CoderOn) -> None:
    questions = [{"question": "Your name?"}, {"question": "Your town?"}]
    server = serve(script(proposes(call("ask_user", questions=questions)), says("thanks")))
    with terminal(coder_on(server)) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        screen.wait_for("deny or stop > ")
        screen.type("Ann\n\n")
        screen.wait_for("no answer to 'Your town?'")
        screen.type("Rome\n")
        screen.wait_for("thanks\n")
    (result,) = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert result == "Your name?\n→ Ann\nYour town?\n→ Rome"


def test_b58_b60_questions_are_answered_by_number_label_or_own_words(serve: Serve, coder_on: CoderOn) -> None:
    questions = [
        {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue", "description": "calm"}]},
        {"question": "Which sizes?", "options": [{"label": "S"}, {"label": "M"}], "multiSelect": True},
        {"question": "Your name?"},
    ]
    server = serve(script(proposes(call("ask_user", questions=questions)), says("thanks")))
    with terminal(coder_on(server)) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        assert "Which colour?\n  1. Red\n  2. Blue  calm\n" in screen.wait_for("deny or stop > ")
        for line in ("2", "1, m", "Ann"):
            screen.type(line + "\n")
        screen.wait_for("thanks\n")
    (result,) = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert result == "Which colour?\n→ Blue\nWhich sizes?\n→ S, M\nYour name?\n→ Ann"


def test_a62_a_plan_is_approved_and_carried_out(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    plan = proposes(call("plan_exit", plan="# Plan\n1. write a"))
    server = serve(script(plan, proposes(write("a", "x")), says("done")))
    with terminal(coder_on(server), "--mode", "plan") as screen:
        screen.wait_for("> ")
        screen.type("plan it\n")
        screen.wait_for("or what to change > ")
        screen.type("smart\n")
        screen.wait_for("done\n")
    assert (folder / "a").read_text() == "x"


def test_a62_a_plan_without_asking_is_put_before_the_person(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(says("first plan"), says("better plan"), proposes(write("a", "x")), says("done")))
    with terminal(coder_on(server), "--mode", "plan") as screen:
        screen.wait_for("> ")
        screen.type("plan it\n")
        screen.wait_for("or what to change > ")
        screen.type("make it shorter\n")
        screen.wait_for("better plan")
        screen.wait_for("or what to change > ")
        screen.type("smart\n")
        screen.wait_for("done\n")
    asked = [without_notes(m["content"]) for m in server.requests[-1]["messages"] if m["role"] == "user"]
    assert asked == ["plan it", "make it shorter", "The plan is approved. Carry it out now."]
    assert (folder / "a").read_text() == "x"


def test_x03_stop_at_an_ask_ends_the_turn(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    calls = proposes(write("a", "x"), write("b", "x"))
    with terminal(coder_on(serve(script(calls)))) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        screen.wait_for("s(top) > ")
        screen.type("s\n")
        screen.wait_for("(stopped)\n> ")
    assert list(folder.glob("[!.]*")) == []


def test_ctrl_c_stops_the_turn_and_not_the_loop(serve: Serve, coder_on: CoderOn) -> None:
    with terminal(coder_on(serve(script(hangs(says("one two three"), 2), says("fine"))))) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        screen.wait_for("one")
        screen.type("\x03")
        screen.wait_for("(stopped)\n> ")
        screen.type("again\n")
        screen.wait_for("fine\n")


@pytest.mark.quick
def test_ctrl_c_at_an_ask_stops_the_turn(serve: Serve, coder_on: CoderOn) -> None:
    with terminal(coder_on(serve(script(proposes(bash("touch x")), says("fine"))))) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        screen.wait_for("s(top) > ")
        screen.type("\x03")
        screen.wait_for("(stopped)\n> ")
        screen.type("again\n")
        screen.wait_for("fine\n")


def test_c01_c19_slash_and_bang_do_not_reach_the_model(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script())
    with terminal(coder_on(server)) as screen:
        screen.wait_for("> ")
        for typed, shown in [
            ("/help", "Ctrl+C stops"),
            ("/fly", "unknown command /fly"),
            ("!echo $((40+2))", "42\n"),
        ]:
            screen.type(typed + "\n")
            screen.wait_for(shown)
            screen.wait_for("> ")
    assert server.requests == []


def test_x16_a_piped_line_is_never_an_answer(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(proposes(bash("touch x")), says("no"), says("yes?")))
    ran = coder_on(server).run(text="go\ny\n")
    assert ran.code == 0
    assert not (folder / "x").exists()
    assert [without_notes(each["messages"][-1]["content"]) for each in server.requests][2] == "y"


def test_c35_all_edits_of_the_session_are_allowed_at_a_plain_terminal(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    calls = proposes(write("a", "1"), write("b", "2"))
    with terminal(coder_on(serve(script(calls, proposes(write("c", "3")), says("done"))))) as screen:
        screen.wait_for("> ")
        screen.type("go, no tests\n")
        screen.wait_for("y / n / e (all edits this session) / a(lways) / s(top) > ")
        screen.type("e\n")
        screen.wait_for("done\n")
    assert [(folder / name).read_text() for name in "abc"] == ["1", "2", "3"]
