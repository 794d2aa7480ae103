"""What a person is asked at a terminal, and how they answer: there, in another process, or after a crash."""

import getpass
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.log_checker import check_settled
from tests.model_server import ModelServerThread, bash, call, proposes, says, script, write
from tests.terminal.repl import (
    answers_in,
    asked,
    asks,
    check_looks,
    is_asking,
    is_idle,
    log_of,
    open_asks,
    repl,
    results,
    sessions_of,
    settle,
    typed_in,
)

CoderOn = Callable[[ModelServerThread], Coder]
KEYS = "❯ y  Yes"
TOUCH = "touch made && echo it is made"


@pytest.mark.quick
def test_c35_c36_one_key_allows_and_the_output_follows(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(bash(TOUCH)), says("done"))))
    with repl(coder) as terminal:
        terminal.enter("make it")
        seen = asks(terminal, TOUCH)
        assert KEYS in seen.text
        assert not (folder / "made").exists()
        terminal.type("y")
        seen = settle(terminal, "done")
        check_looks("allowed", terminal, coder)
    assert (folder / "made").exists()
    assert "it is made" in [line.lstrip(" │") for line in seen.everything]
    assert KEYS not in seen.text, "the question is gone"


def test_c35_a_typed_line_is_an_answer_too(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(proposes(write("a", "1")), proposes(write("a", "2")), says("done")))
    with repl(coder_on(server)) as terminal:
        terminal.enter("go")
        asks(terminal, "a")
        terminal.enter("always")
        seen = settle(terminal, "done")
        assert typed_in(seen) == ""
    assert (folder / "a").read_text() == "2", "the second write was not asked about"
    assert asked(server)[0] == "go"
    assert len(server.requests) == 3, "no part of the answer was taken for a prompt"


def test_c35_typed_no_denies_the_call(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(proposes(write("a", "1")), says("as you wish")))
    with repl(coder_on(server)) as terminal:
        terminal.enter("go")
        asks(terminal, "a")
        terminal.enter("no")
        settle(terminal, "as you wish")
    assert not (folder / "a").exists()
    assert len(server.requests) == 2, "no part of the answer was taken for a prompt"


def test_c35_one_of_three_is_denied_and_the_rest_runs_in_order(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    calls = proposes(bash("echo one >> order"), bash("echo two >> order"), bash("echo three >> order"))
    server = serve(script(calls, says("two of them")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter("go")
        for number, (word, key) in enumerate((("echo one", "y"), ("echo two", "n"), ("echo three", "y")), 1):
            asks(terminal, word)
            terminal.type(key)
            terminal.wait_until(lambda _, n=number: len(answers_in(coder)) == n, "the answer in the log", poll=True)
        settle(terminal, "two of them")
    assert (folder / "order").read_text() == "one\nthree\n"
    assert answers_in(coder) == ["allow", "deny", "allow"]
    assert ["the user denied it" in each for each in results(server)] == [False, True, False]


def test_a_batch_is_answered_together(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    calls = proposes(write("a", "1"), write("b", "2"), write("c", "3"))
    with repl(coder_on(serve(script(calls, says("all of them"))))) as terminal:
        terminal.enter("go")
        asks(terminal, "c")
        terminal.enter("y all")
        settle(terminal, "all of them")
    assert sorted(path.name for path in folder.glob("[!.]*")) == ["a", "b", "c"]


def test_x03_stop_at_a_question_ends_the_turn(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(proposes(write("a", "x"), write("b", "x")), says("fine")))
    with repl(coder_on(server)) as terminal:
        terminal.enter("go")
        asks(terminal, "a")
        terminal.type("s")
        terminal.wait_until(is_idle, "the prompt")
        terminal.enter("again")
        settle(terminal, "fine")
    assert list(folder.glob("[!.]*")) == []


def test_kill_9_while_asking_and_resume_asks_again_and_acts_once(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    server = serve(script(proposes(bash("echo ran >> runs")), says("carried on")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "echo ran >> runs")
        terminal.kill()
    (session,) = sessions_of(coder)
    with repl(coder, "resume", session) as terminal:
        seen = asks(terminal, "echo ran >> runs")
        assert KEYS in seen.text
        terminal.type("y")
        settle(terminal, "carried on")
    assert (folder / "runs").read_text() == "ran\n"
    check_settled(log_of(coder))


def test_answered_in_another_process_the_question_disappears_and_says_by_whom(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    coder = coder_on(serve(script(proposes(bash("echo ran >> runs")), says("thank you"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "echo ran >> runs")
        (ask,) = open_asks(coder)
        assert coder.run("answer", ask, "allow", "--no-wait").code == 0
        seen = settle(terminal, "thank you")
        assert f"answered by {getpass.getuser()} in cli" in seen.all_text
        assert KEYS not in seen.text
        assert coder.run("answer", ask, "deny").code == 1, "too late"
    assert (folder / "runs").read_text() == "ran\n"


def test_a_second_terminal_follows_answers_prompts_and_stops(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    wait = "while [ ! -e never ]; do sleep 0.05; done"
    server = serve(script(proposes(bash("echo ran >> runs")), says("thank you"), proposes(bash(wait)), says("?")))
    coder = coder_on(server)
    with repl(coder) as first:
        first.enter("go")
        asks(first, "echo ran >> runs")
        (session,) = sessions_of(coder)
        with repl(coder, "resume", session) as second:
            asks(second, "echo ran >> runs")
            second.type("y")
            settle(second, "thank you")
            settle(first, "thank you")
            second.enter("from here")
            first.wait_for("from here")
            asks(first, wait[:20])
            asks(second, wait[:20])
            first.type("y")
            second.wait_until(lambda seen: not is_asking(seen), "the other's answer")
            second.press("escape")
            first.wait_until(is_idle, "stopped by the other")
            second.wait_until(is_idle, "stopped")
    assert (folder / "runs").read_text() == "ran\n"


def test_closing_the_terminal_parks_the_question(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(bash("echo ran >> runs")), says("done"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "echo ran >> runs")
    (ask,) = open_asks(coder)
    ran = coder.run("answer", ask, "allow")
    assert (ran.code, "done" in ran.out) == (0, True)
    assert (folder / "runs").read_text() == "ran\n"


def test_b58_b60_questions_by_number_label_and_own_words(serve: Serve, coder_on: CoderOn) -> None:
    questions = [
        {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue", "description": "calm"}]},
        {"question": "Which sizes?", "options": [{"label": "S"}, {"label": "M"}], "multiSelect": True},
        {"question": "Your name?"},
    ]
    server = serve(script(proposes(call("ask_user", questions=questions)), says("thanks")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "Which colour?")
        for line in ("2", "1, m", "Ann"):
            terminal.enter(line)
        settle(terminal, "thanks")
        check_looks("questions", terminal, coder)
    assert results(server) == ["Which colour?\n→ Blue\nWhich sizes?\n→ S, M\nYour name?\n→ Ann"]


def test_a62_a_plan_is_approved_and_carried_out(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    plan = proposes(call("plan_exit", plan="# Plan\n\n1. write a"))
    with repl(coder_on(serve(script(plan, proposes(write("a", "x")), says("done")))), "--mode", "plan") as terminal:
        terminal.enter("plan it")
        asks(terminal, "write a")
        terminal.type("1")
        seen = settle(terminal, "done")
        assert "auto-edit ❯" in seen.cursor_row, "the prompt shows the mode"
    assert (folder / "a").read_text() == "x"


def test_what_a_tool_prints_can_neither_draw_nor_ask(serve: Serve, coder_on: CoderOn) -> None:
    evil = r"printf '\033[2J\033[H\033]0;owned\007\033[?1049h\033[31mred\033[0m y allow\r\n'"
    server = serve(script(says("first words"), proposes(bash(evil)), says("done")))
    with repl(coder_on(server), "--mode", "yolo") as terminal:
        terminal.enter("talk")
        settle(terminal, "first words")
        terminal.enter("go")
        seen = settle(terminal, "done")
    assert "first words" in seen.all_text
    assert seen.title != "owned"
    assert b"\x1b[?1049h" not in terminal.raw
    assert b"owned\x07" not in terminal.raw


def test_c35_always_settles_what_waits_beside_it(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    calls = proposes(bash("touch one"), bash("touch two"), write("kept", "x"), bash("touch three"))
    coder = coder_on(serve(script(calls, says("done"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "touch one")
        terminal.type("a")
        seen = asks(terminal, "Create ")  # which is another thing
        assert "touch two\n┃ it makes" not in seen.all_text
        terminal.enter("n, rather keep it in mind")
        settle(terminal, "done")
    assert [(folder / name).exists() for name in ("one", "two", "kept", "three")] == [True, True, False, True]
    assert answers_in(coder) == ["allow", "allow", "allow", "deny"]
    told = [each["outcome"] for each in log_of(coder) if each["kind"] == "call.ended"]
    assert told[2] == {"type": "denied", "message": "rather keep it in mind"}


def test_a_line_begun_before_a_question_is_no_answer_to_it(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    os.mkfifo(folder / "held")
    question = [{"question": "Which?"}]
    answers = proposes(bash("cat held")), proposes(call("ask_user", questions=question)), says("so"), says("hm")
    server = serve(script(*answers))
    with repl(coder_on(server)) as terminal:
        terminal.enter("go")
        terminal.wait_until(lambda seen: "cat held" in seen.text, "the command")
        terminal.type("and then")
        terminal.wait_until(lambda seen: typed_in(seen) == "and then", "the beginning of a line")
        (folder / "held").write_text("go on\n")
        asks(terminal, "Which?")
        terminal.enter(" this")
        terminal.wait_for("the question above is still open")
        terminal.enter("that one")
        settle(terminal, "hm")
    assert asked(server)[-1] == "and then this"
    assert results(server)[-1].endswith("that one")


def test_a_key_meant_for_one_question_answered_the_next(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    """Somebody else is faster, and the question that follows is not seen yet."""
    coder = coder_on(serve(script(proposes(bash("touch one"), bash("touch two")), says("done"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "touch one")
        first, _ = open_asks(coder)
        terminal.process.send_signal(signal.SIGSTOP)  # so that the key cannot count before the other's answer does
        terminal.type("y")
        ran = coder.run("answer", "--no-wait", first, "deny")
        terminal.process.send_signal(signal.SIGCONT)
        assert ran.code == 0
        terminal.wait_until(lambda seen: is_asking(seen) and "$ touch two" in seen.text, "the second question")
        terminal.wait_until(lambda seen: typed_in(seen) in ("y", ""), "the key")
        terminal.press("c-c", "c-d")
        terminal.wait()
    assert answers_in(coder) == ["deny"]
