"""The first minutes: hints on the first screen, `?` for the keys, and words that other programs leave with."""

import re
from collections.abc import Callable

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, proposes, says, script
from tests.plain_terminal import terminal as plain_terminal
from tests.terminal.repl import asked, asks, repl, settle, status_of, typed_in

CoderOn = Callable[[ModelServerThread], Coder]
HINTS = "? shortcuts · / commands · @ files · Shift+Tab changes the mode"


def test_shortcuts_and_commands_are_readable_in_a_narrow_window(serve: Serve, coder_on: CoderOn) -> None:
    with repl(coder_on(serve(script())), columns=60, rows=24) as terminal:
        terminal.type("?")
        seen = terminal.wait_until(lambda seen: "? and Enter lists all keys" in seen.text, "the last shortcut")
        assert "Ctrl+O opens your editor" in seen.text
        terminal.press("backspace")
        terminal.type("/")
        seen = terminal.wait_until(lambda seen: "/permissions" in seen.text, "the commands")
        assert re.search(r"/mode \[plan\S*… +show or change the permi\S*…", seen.text), seen.text


def test_c20_the_first_screen_says_how_to_find_the_rest(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("Greetings."), says("again")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        settle(terminal, HINTS)
        terminal.type("?")
        seen = terminal.wait_until(lambda seen: "Ctrl+R searches the history" in seen.text, "the shortcuts")
        assert typed_in(seen).startswith("?")
        terminal.type(" why")
        terminal.wait_until(lambda seen: "Ctrl+R searches" not in seen.text, "the shortcuts to go")
        terminal.press("enter")
        settle(terminal, "Greetings.")
        terminal.enter("?")
        settle(terminal, "Ctrl+C      clear the input, or stop the turn; twice to exit")
    assert asked(server) == ["? why"], "a prompt may begin with a question mark"
    with repl(coder, "--continue") as terminal:
        settle(terminal, "Greetings.")
        assert HINTS not in terminal.wait_until(lambda seen: True, "the screen").all_text


def test_the_status_line_uses_the_width_of_the_terminal(serve: Serve, coder_on: CoderOn) -> None:
    with repl(coder_on(serve(script())), "--model", "openai:gpt-5.5", columns=80) as terminal:
        terminal.enter("/model guide")
        settle(terminal, "model: guide")
        terminal.wait_until(lambda seen: "tokens" not in status_of(seen), "the guide, which uses none")
    priced = coder_on(serve(script(proposes(bash("touch x")))))
    with repl(priced, "--model", "openai:gpt-5.5", columns=80) as terminal:
        terminal.enter("go")
        asks(terminal, "touch x")
        terminal.wait_until(
            lambda seen: re.search(r"· \$\d\.\d{4} \? waiting for you$", status_of(seen)), "the price, not cut"
        )


@pytest.mark.parametrize("word", ["exit", "quit"])
def test_a_word_that_other_programs_leave_with_leaves(serve: Serve, coder_on: CoderOn, word: str) -> None:
    server = serve(script())
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter(word)
        assert terminal.wait() == 0
    with plain_terminal(coder) as screen:
        screen.wait_for("> ")
        screen.type(f"{word}\n")
        assert screen.wait() == 0
    assert server.requests == []


def test_c35_such_a_word_is_no_command_while_something_is_asked(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(proposes(bash("touch x")), says("not now")))
    with repl(coder_on(server)) as terminal:
        terminal.enter("go")
        asks(terminal, "touch x")
        terminal.enter("exit")
        terminal.wait_until(lambda seen: "queued" in seen.text, "what was typed, behind the question")
