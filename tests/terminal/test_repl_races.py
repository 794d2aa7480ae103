"""What is typed and what happens elsewhere at the same time: nothing lost, nothing taken for something else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, hangs, proposes, says, script, write
from tests.terminal.pty import Seen, Terminal
from tests.terminal.repl import (
    answers_in,
    asked,
    asks,
    is_idle,
    log_of,
    make_repository,
    open_asks,
    repl,
    sessions_of,
    settle,
    typed_in,
    works,
)

CoderOn = Callable[[ModelServerThread], Coder]


def test_a_yes_to_a_question_that_somebody_else_decided_became_a_prompt(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(proposes(write("a", "1")), says("as you wish")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "a")
        terminal.type("yes")
        (ask,) = open_asks(coder)
        assert coder.run("answer", "--no-wait", ask, "deny").code == 0
        terminal.wait_for("as you wish")
        terminal.press("enter")
        seen = terminal.wait_for("that question was already answered; nothing was sent")
        assert typed_in(seen) == "yes"
    assert len(server.requests) == 2


def test_a_line_that_was_given_back_was_refused_for_ever(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(write("a", "1"), write("b", "1")), says("done"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "a")
        terminal.type("yes")
        first, _ = open_asks(coder)
        assert coder.run("answer", "--no-wait", first, "deny").code == 0
        terminal.wait_for("Create b?")
        terminal.press("enter")
        terminal.wait_for("your answer was not sent")
        while len(answers_in(coder)) < 2:  # for a moment a new question counts as not seen
            enter_and_wait(terminal, coder)
        settle(terminal, "done")
    assert [(folder / name).exists() for name in "ab"] == [False, True]


def enter_and_wait(terminal: Terminal, coder: Coder) -> None:
    """Until the answer counts, or the line is given back once more."""

    def refused(seen: Seen) -> int:
        return seen.all_text.count("your answer was not sent")

    before = refused(terminal.seen)
    terminal.press("enter")
    terminal.wait_until(
        lambda seen: refused(seen) > before or len(answers_in(coder)) == 2, "what became of it", poll=True
    )


@pytest.mark.parametrize("own", [1, 3])
def test_the_count_of_what_others_queued_was_negative(serve: Serve, coder_on: CoderOn, own: int) -> None:
    with repl(coder_on(serve(script(hangs(says("one two"), 1))))) as terminal:
        terminal.enter("go")
        works(terminal, "go")
        terminal.enter("!echo mine")
        for number in range(own):
            terminal.enter(f"later {number}")
            terminal.wait_until(lambda seen: seen.text.count("⧖") + seen.text.count("more;") > 1, "queued")
        terminal.press("escape")
        seen = terminal.wait_for("your next line starts the queue")
        assert "(1 queued; your next line starts" in seen.all_text


def test_what_was_sent_just_before_leaving_was_lost(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("one"))))
    with repl(coder) as terminal:
        terminal.type("do this\r\x04")
        assert terminal.wait() == 0
    assert [each["text"] for each in log_of(coder) if each["kind"] == "prompt.admitted"] == ["do this"]


def test_two_shift_tabs_in_one_moment_moved_one_mode(serve: Serve, coder_on: CoderOn) -> None:
    with repl(coder_on(serve(script()))) as terminal:
        terminal.type("\x1b[Z\x1b[Z")
        terminal.wait_for("plan ❯")


def test_answering_always_for_all_reported_that_somebody_else_had_answered(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(write("a", "1"), write("a", "2")), says("done"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "a")
        terminal.enter("a all")
        assert "already answered by" not in settle(terminal, "done").all_text


def test_y_all_with_one_open_call_was_queued_as_a_prompt(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(bash("touch one")), says("done"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        asks(terminal, "touch one")
        terminal.enter("y all")
        settle(terminal, "done")
    assert answers_in(coder) == ["allow"]


def test_c27_a_folder_whose_configuration_is_wrong_left_the_terminal_blind(
    serve: Serve, coder_on: CoderOn, tmp_path: Path
) -> None:
    server = serve(script(says("first"), says("second")))
    coder = coder_on(server)
    other = tmp_path / "other"
    other.mkdir()
    assert Coder(coder.home, other, server.base_url).run("-p", "one").code == 0
    (name,) = sessions_of(coder)
    config = other / ".coder" / "config.json"
    config.parent.mkdir(exist_ok=True)
    config.write_text("{ this is wrong")
    with repl(coder) as terminal:
        terminal.enter(f"/resume {name}")
        terminal.wait_until(lambda seen: "first" in seen.all_text, "the other session")
        config.unlink()
        terminal.enter("hello there")
        settle(terminal, "second")


def test_c27_the_end_of_a_very_long_turn_is_there_again(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(*[proposes(bash(f"echo step{n}")) for n in range(80)], says("the end of it"))))
    assert coder.run("-p", "work long").code == 0
    with repl(coder, "resume", sessions_of(coder)[0]) as terminal:
        settle(terminal, "the end of it")


def test_the_title_said_that_something_is_asked_in_a_new_session(serve: Serve, coder_on: CoderOn) -> None:
    with repl(coder_on(serve(script(proposes(write("a", "1")))))) as terminal:
        terminal.enter("go")
        asks(terminal, "a")
        terminal.enter("/new")
        terminal.wait_until(lambda seen: is_idle(seen) and seen.title.startswith("coder"), "a title without a mark")


def test_c30_an_undo_is_told_in_the_other_terminal(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    make_repository(folder, {"a.txt": ""})
    server = serve(script(says("one")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter("go")
        settle(terminal, "one")
        with repl(coder, "resume", sessions_of(coder)[0]) as second:
            second.enter("/undo")
            seen = settle(second, "the last turn was undone")
            assert "last turn undone by" not in seen.all_text
        terminal.wait_for("last turn undone by")
    assert asked(server) == ["go"]
