"""A session opened again: what was said, what is asked, and why it cannot go on if it cannot."""

import re
from collections.abc import Callable
from pathlib import Path

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, says, script
from tests.terminal.pty import at_terminal
from tests.terminal.repl import make_repository, repl, sessions_of, settle, status_of

CoderOn = Callable[[ModelServerThread], Coder]


def test_c27_the_conversation_is_there_again(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("**one** of them"), says("two"))))
    assert coder.run("-p", "first words").code == 0
    with repl(coder, "resume", sessions_of(coder)[0]) as terminal:
        seen = settle(terminal, "one of them")
        assert [line for line in seen.everything if "first words" in line] == ["❯ first words"]
        terminal.enter("go on")
        settle(terminal, "two")


def test_a_session_whose_folder_is_gone_says_so_and_keeps_what_is_sent(
    serve: Serve, coder_on: CoderOn, folder: Path, tmp_path: Path
) -> None:
    coder = coder_on(serve(script(says("one"))))
    assert coder.run("-p", "first words").code == 0
    (session,) = sessions_of(coder)
    folder.rename(tmp_path / "elsewhere")
    with at_terminal(coder, "resume", session, cwd=tmp_path) as terminal:
        seen = settle(terminal, "cannot continue here")
        assert "does not exist" in seen.all_text
        terminal.enter("are you there?")
        terminal.wait_for("queued, but this process cannot run")
        terminal.press("c-c", "c-c")
        assert terminal.wait() == 0


def test_c14_the_count_of_tokens_follows_an_undo(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    make_repository(folder, {"a.txt": ""})
    coder = coder_on(serve(script(says("short"), says("long " * 3000))))
    with repl(coder) as terminal:
        terminal.enter("one")
        settle(terminal, "short")
        first = tokens(status_of(terminal.wait_until(lambda seen: tokens(status_of(seen)) > 0, "a count")))
        terminal.enter("two")
        settle(terminal, "long long")
        terminal.wait_until(lambda seen: tokens(status_of(seen)) > first + 1000, "more tokens")
        terminal.enter("/undo")
        terminal.wait_until(lambda seen: 0 < tokens(status_of(seen)) < first + 1000, "as many as before, about")


def tokens(status: str) -> int:
    found = re.match(r"([\d,]+) tokens", status)
    return int(found[1].replace(",", "")) if found else 0
