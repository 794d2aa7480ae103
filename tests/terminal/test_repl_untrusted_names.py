"""Names and ids that others choose can neither draw nor pass for something else."""

import os
from collections.abc import Callable
from pathlib import Path

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, by_history, call, proposes, says, script
from tests.model_server.answers import Answer
from tests.model_server.wire_form import History
from tests.terminal.pty import at_terminal
from tests.terminal.repl import make_repository, repl, settle

CoderOn = Callable[[ModelServerThread], Coder]
HIDDEN = "\x01\x1b]0;OWNED\x07\x1b[3A\x1b[41mIMITATION\x1b[0m\x02"


def test_the_name_of_a_file_drew_above_the_list_to_pick_from(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    make_repository(folder, {"a.txt": ""})
    (folder / "make.py").write_text(f"open({f'f{HIDDEN}z'!r}, 'w')\n")
    coder = coder_on(serve(script(proposes(bash("python3 make.py")), says("done"))))
    with repl(coder, "--mode", "yolo") as terminal:
        terminal.enter("go, no tests")
        settle(terminal, "done")
        terminal.enter("/rewind")
        seen = terminal.wait_for("IMITATION")
        assert seen.title != "OWNED"
        assert b"\x1b]0;OWNED" not in terminal.raw
        assert b"\x1b[41m" not in terminal.raw


def test_the_name_of_a_model_or_a_folder_took_over_the_title(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script()))
    named = folder / f"x{HIDDEN}y"
    os.mkdir(named)
    with at_terminal(coder, "--model", f"openai:m{HIDDEN}x", cwd=named) as terminal:
        terminal.wait_until(lambda seen: "tokens" in seen.text, "a prompt")
        assert b"\x1b]0;OWNED" not in terminal.raw
        assert b"\x1b[41m" not in terminal.raw


def by_depth(history: History) -> Answer:
    """A child that numbers its calls as its parent does, and is denied what it wants."""
    last = history[-1]
    if last.role == "tool":
        return says("the child is done" if "inner" in history[1].text else "all is done")
    inner = proposes(call("write", path="made", content="x"))
    return inner if "inner" in last.text else proposes(call("task", description="look", prompt="inner"))


def test_what_a_child_was_denied_was_shown_as_done(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(by_history(by_depth)))
    with repl(coder) as terminal:
        terminal.enter("give it away")
        seen = settle(terminal, "all is done")
    ended = [line for line in seen.everything if line.startswith("●")]
    assert len(ended) == 1
    assert ended[0].startswith("● task  look  ✓")
    assert not (folder / "made").exists()
