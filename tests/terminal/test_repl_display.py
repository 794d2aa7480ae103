"""How much is shown: everything by default (C-36), less if the person wants it, and a short history on resume."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, call, proposes, says, script
from tests.terminal.pty import Seen
from tests.terminal.repl import repl, sessions_of, settle

CoderOn = Callable[[ModelServerThread], Coder]
LEFT_OUT = "more lines (Ctrl+T shows them)"


def numbers(seen: Seen) -> list[int]:
    """The lines of `seq` that are shown, in order."""
    return [int(line.removeprefix("│ ")) for line in seen.everything if line.removeprefix("│ ").isdecimal()]


def test_c36_everything_is_shown_by_default(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(bash("seq 100 160")), says("counted"))))
    with repl(coder) as terminal:
        terminal.enter("count")
        seen = settle(terminal, "counted")
    assert numbers(seen) == [*range(100, 161)]
    assert LEFT_OUT not in seen.all_text


def test_output_is_shortened_to_its_first_and_last_lines_and_a_key_shows_the_rest(
    serve: Serve, coder_on: CoderOn
) -> None:
    answers = proposes(bash("seq 100 160")), says("counted"), proposes(bash("seq 200 260")), says("again")
    coder = coder_on(serve(script(*answers)))
    with repl(coder, rows=40) as terminal:
        terminal.enter("/output 9")
        terminal.enter("count")
        seen = settle(terminal, "counted")
        assert f"│ … 52 {LEFT_OUT}" in seen.everything
        assert numbers(seen) == [100, 101, 102, 155, 156, 157, 158, 159, 160]
        terminal.press("c-t")
        terminal.wait_until(lambda seen: numbers(seen)[9:] == [*range(100, 161)], "the whole output")
        terminal.press("c-t")
        terminal.wait_for("nothing to expand")
        terminal.enter("/output full")
        terminal.enter("count on")
        seen = settle(terminal, "again")
        assert numbers(seen)[-61:] == [*range(200, 261)]


def test_the_configuration_shortens_for_good(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(bash("seq 100 160; exit 3")), says("counted"))))
    coder.home.mkdir()
    (coder.home / "config.json").write_text(json.dumps({"display": {"output_lines": 3}}))
    with repl(coder, "--mode", "yolo") as terminal:
        terminal.enter("count")
        seen = settle(terminal, "counted")
    assert numbers(seen) == [100, 159, 160], "also of a command that fails"


def test_c27_the_history_of_a_resumed_session_is_shortened(serve: Serve, coder_on: CoderOn) -> None:
    lines = "\n".join(f"line {number}" for number in range(60))
    coder = coder_on(serve(script(proposes(bash("seq 100 160")), says("counted"), says("go on"))))
    assert coder.run("-p", f"count {lines}").code == 0
    with repl(coder, "resume", sessions_of(coder)[0], rows=40) as terminal:
        seen = settle(terminal, "earlier output is shortened")
        assert numbers(seen) == [100, 101, 157, 158, 159, 160]
        assert "❯ count line 0" in seen.everything
        assert "line 30" not in seen.all_text
        terminal.press("c-t")
        terminal.wait_until(lambda seen: numbers(seen)[6:] == [*range(100, 161)], "the whole output")
        terminal.press("c-t")
        terminal.wait_for("line 30")
        terminal.enter("what now?")
        settle(terminal, "go on")


def test_c12_the_list_that_coder_begins_is_one_line(serve: Serve, coder_on: CoderOn) -> None:
    own = [{"content": "look", "status": "completed"}, {"content": "think", "status": "in_progress"}]
    coder = coder_on(serve(script(proposes(call("todo", items=own)), says("on my way"))))
    with repl(coder) as terminal:
        terminal.enter("1. read the code 2. write a test 3. run it")
        seen = settle(terminal, "on my way")
        lines = seen.everything
        assert "(todo list with 3 items; /todos shows it)" in lines
        assert not any("☐ write a test" in line for line in lines)
        assert "  ◐ think" in lines, "the list of the model is shown in full"


def test_the_list_that_coder_began_is_shown_when_asked_for(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    with repl(coder_on(serve(script(says("on my way"))))) as terminal:
        terminal.enter("1. read the code 2. write a test 3. run it")
        settle(terminal, "on my way")
        terminal.enter("/todos")
        terminal.wait_for("write a test\n")
