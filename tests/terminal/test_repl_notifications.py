"""Who looks elsewhere is called, and the window's title says how things stand."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, proposes, says, script
from tests.terminal.pty import Terminal
from tests.terminal.repl import asks, repl, settle

CoderOn = Callable[[ModelServerThread], Coder]
COMES, GOES = "\x1b[I", "\x1b[O"  # what a terminal tells that was asked to
TOUCH = "touch made"


def shows_title(terminal: Terminal, title: str) -> None:
    terminal.wait_until(lambda seen: seen.title == title, f"the title {title!r}")


def test_the_title_says_whether_it_rests_works_or_asks(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(bash(TOUCH)), says("done"))))
    with repl(coder) as terminal:
        shows_title(terminal, f"coder · {folder.name}")
        terminal.enter("touch it")
        asks(terminal, TOUCH)
        shows_title(terminal, "? coder · touch it")
        terminal.type("y")
        settle(terminal, "done")
        shows_title(terminal, "coder · touch it")
        terminal.enter("/title Other")
        shows_title(terminal, "coder · Other")
        terminal.press("c-d")
        assert terminal.wait() == 0
        shows_title(terminal, "")


@pytest.mark.parametrize(("tells", "bells"), [(GOES, 1), (COMES, 0), ("", 1)], ids=["away", "here", "not told"])
def test_a_question_rings_unless_the_person_looks(serve: Serve, coder_on: CoderOn, tells: str, bells: int) -> None:
    coder = coder_on(serve(script(proposes(bash(TOUCH)), says("done"))))
    with repl(coder) as terminal:
        terminal.type(tells)
        terminal.enter("go")
        seen = asks(terminal, TOUCH)
        assert seen.bells == bells
        assert (b"\x1b]9;coder needs your answer: " in terminal.raw) == bool(bells)
        terminal.type("n")
        seen = settle(terminal, "done")
        assert seen.bells == bells, "a short turn ends in silence"


def test_the_terminal_tells_nobody_of_its_focus_any_more_afterwards(serve: Serve, coder_on: CoderOn) -> None:
    with repl(coder_on(serve(script()))) as terminal:
        assert terminal.raw.count(b"\x1b[?1004h") == 1
        terminal.press("c-d")
        assert terminal.wait() == 0
        assert terminal.raw.rindex(b"\x1b[?1004l") > terminal.raw.rindex(b"\x1b[?1004h")
