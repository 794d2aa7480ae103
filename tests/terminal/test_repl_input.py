"""Typing, pasting, completing and recalling, and what waits while the agent works."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, hangs, proposes, says, script
from tests.terminal.pty import at_terminal
from tests.terminal.repl import asked, is_idle, make_repository, repl, settle, status_of, typed_in, works

CoderOn = Callable[[ModelServerThread], Coder]


@pytest.fixture
def coder_on(tmp_path: Path, folder: Path) -> CoderOn:
    """Says nothing to the model but what is typed, however long."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.json").write_text('{"workflow": {"require_todo_for_complex": false}}')
    return lambda server: Coder(home, folder, server.base_url)


def test_a_paste_of_2000_lines_is_one_prompt(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("read it")))
    text = "\n".join(f"pasted line {number}" for number in range(2000))
    with repl(coder_on(server)) as terminal:
        terminal.type("look: ")
        terminal.paste(text)
        terminal.wait_until(lambda seen: "2,000 lines" in seen.text, "a short form of it")
        assert len(terminal.screen) < 15, "it does not fill the screen"
        terminal.press("enter")
        settle(terminal, "read it")
    assert asked(server) == [f"look: {text}"]


def test_a_short_paste_is_text_and_is_not_sent_by_its_line_ends(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("fine")))
    with repl(coder_on(server)) as terminal:
        terminal.paste("first\nsecond\n\x1b[31mthird")
        terminal.wait_until(lambda seen: "third" in seen.text, "the text")
        assert server.requests == []
        terminal.press("enter")
        settle(terminal, "fine")
    (said,) = asked(server)
    assert said.startswith("first\nsecond\n")
    assert "\x1b" not in said


def test_c20_ctrl_d_sends_what_is_there_and_leaves_when_nothing_is(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("heard")))
    with repl(coder_on(server)) as terminal:
        terminal.type("hello")
        terminal.wait_until(lambda seen: typed_in(seen) == "hello", "the text")
        terminal.press("c-d")
        settle(terminal, "heard")
        terminal.press("c-d")
        assert terminal.wait() == 0
    assert asked(server) == ["hello"]


def test_several_lines_by_alt_enter_and_backslash(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("three lines")))
    with repl(coder_on(server)) as terminal:
        terminal.type("one")
        terminal.press("a-enter")
        terminal.type("two\\")
        terminal.press("enter")
        terminal.type("three")
        terminal.press("enter")
        settle(terminal, "three lines")
    assert asked(server) == ["one\ntwo\nthree"]


def test_x08_what_is_sent_while_it_works_waits_visibly_and_can_be_taken_back(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    wait = "while [ ! -e go ]; do sleep 0.02; done"
    server = serve(script(proposes(bash(wait)), says("first done"), says("second done")))
    with repl(coder_on(server), "--mode", "yolo") as terminal:
        terminal.enter("first")
        terminal.wait_until(lambda seen: "Esc stops" in seen.text, "the turn")
        terminal.enter("second")
        terminal.wait_until(lambda seen: "queued: second" in seen.text, "that it waits")
        terminal.press("up")
        terminal.wait_until(lambda seen: typed_in(seen) == "second" and "queued" not in seen.text, "taken back")
        terminal.type(", but better")
        terminal.press("enter")
        terminal.wait_until(lambda seen: "queued: second, but better" in seen.text, "that it waits again")
        (folder / "go").touch()
        settle(terminal, "second done")
    assert [each for each in asked(server) if each.startswith(("first", "second"))] == ["first", "second, but better"]


def test_x08_steered_text_is_sent_with_the_next_step(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    wait = "while [ ! -e go ]; do sleep 0.02; done"
    server = serve(script(proposes(bash(wait)), says("as you like")))
    with repl(coder_on(server), "--mode", "yolo") as terminal:
        terminal.enter("start")
        terminal.wait_until(lambda seen: "Esc stops" in seen.text, "the turn")
        terminal.enter("/steer rather the blue one")
        terminal.wait_until(lambda seen: "rather the blue one" in seen.text, "that it waits")
        (folder / "go").touch()
        settle(terminal, "as you like")
    assert asked(server) == ["start", "rather the blue one"]


def test_typing_goes_on_while_the_agent_writes(serve: Serve, coder_on: CoderOn) -> None:
    text = "\n\n".join(f"line {number}" for number in range(400))
    server = serve(script(says(text, token_delay=0.0005), says("two")))
    with repl(coder_on(server)) as terminal:
        terminal.enter("go")
        terminal.wait_for("line 3")
        for character in "a thought meanwhile":
            terminal.type(character)
        terminal.wait_for("line 399")
        seen = terminal.wait_until(is_idle, "the prompt")
        assert typed_in(seen) == "a thought meanwhile"
        terminal.press("enter")
        settle(terminal, "two")
    assert asked(server) == ["go", "a thought meanwhile"]


def test_what_is_typed_before_the_prompt_is_there_is_not_lost(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("early bird")))
    with at_terminal(coder_on(server)) as terminal:
        terminal.enter("so early")
        settle(terminal, "early bird")
    assert asked(server) == ["so early"]


def test_lines_of_earlier_sessions_come_back(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("one"), says("the second time")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter("say something\\")
        terminal.enter("on two lines")
        settle(terminal, "one")
        terminal.press("c-d")
        terminal.wait()
    with repl(coder) as terminal:
        terminal.press("up")
        terminal.wait_until(lambda seen: "on two lines" in seen.text, "the line of the session before")
        terminal.press("enter")
        settle(terminal, "the second time")
    assert asked(server) == ["say something\non two lines"] * 2


def test_commands_and_files_are_completed(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    make_repository(folder, {"src/main.py": "", "src/other.py": "", "build/main.o": "", ".gitignore": "build\n"})
    server = serve(script(says("seen")))
    with repl(coder_on(server)) as terminal:
        terminal.type("/perm")
        terminal.wait_until(lambda seen: "/permissions" in seen.text, "the command")
        terminal.press("tab")
        terminal.wait_until(lambda seen: typed_in(seen).startswith("/permissions"), "completed")
        terminal.press("c-c")
        terminal.wait_until(lambda seen: typed_in(seen) == "", "an empty line")
        terminal.type("look at @smain")
        seen = terminal.wait_until(lambda seen: "src/main.py" in seen.text, "the file")
        assert "main.o" not in seen.text
        terminal.press("tab")
        terminal.wait_until(lambda seen: "@src/main.py" in typed_in(seen), "completed")
        terminal.press("enter")
        settle(terminal, "seen")
    assert asked(server)[0].startswith("look at @src/main.py")


def test_shift_tab_changes_the_mode_and_never_to_yolo(serve: Serve, coder_on: CoderOn) -> None:
    with repl(coder_on(serve(script()))) as terminal:
        modes = ["default"]
        for _ in range(4):
            terminal.press("s-tab")
            others = [f"{mode} ❯" for mode in ("plan", "default", "auto-edit", "yolo") if mode != modes[-1]]
            seen = terminal.wait_until(
                lambda seen, others=others: any(each in seen.cursor_row for each in others), "another mode"
            )
            modes.append(seen.cursor_row.split()[-2])
    assert "yolo" not in modes
    assert set(modes) == {"plan", "default", "auto-edit"}


def test_a_narrow_window_keeps_the_prompt_usable(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("fine")))
    with repl(coder_on(server), columns=40, rows=10) as terminal:
        text = "a line that is longer than the window is wide, and then some"
        terminal.type(text)
        seen = terminal.wait_until(lambda seen: seen.cursor_row.endswith("some"), "all of it")
        assert "tokens" in status_of(seen)
        terminal.press("enter")
        settle(terminal, "fine")
    assert asked(server) == [text]


def test_an_answer_in_a_window_of_few_rows(serve: Serve, coder_on: CoderOn) -> None:
    lines = [f"line {number:02} of it" for number in range(50)]
    with repl(coder_on(serve(script(hangs(says("\n\n".join(lines)), 1 + 4 * 40)))), rows=6) as terminal:
        terminal.enter("go")
        works(terminal, "line 39 of it")
        terminal.press("escape")
        seen = settle(terminal, "stopped")
    assert [line for line in seen.everything if " of it" in line] == lines[:40]
