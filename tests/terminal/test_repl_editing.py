"""The input line in the whole REPL: editor, search, images, and keys pressed before the session was open."""

import sys
from collections.abc import Callable
from pathlib import Path

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, says, script
from tests.terminal.input.images import png
from tests.terminal.pty import at_terminal
from tests.terminal.repl import asked, repl, settle, typed_in

CoderOn = Callable[[ModelServerThread], Coder]
SEES = '{"providers": {"openai": {"models": {"scripted": {"images": true}}}}}'
EDITOR = """\
import pathlib, sys
file = pathlib.Path(sys.argv[1])
file.write_text(file.read_text().upper() + "\\nand more\\n")
"""


def test_ctrl_o_opens_the_text_in_an_editor(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    (tmp_path / "editor.py").write_text(EDITOR)
    server = serve(script(says("edited it is")))
    editor = f"{sys.executable} {tmp_path / 'editor.py'}"
    with repl(coder_on(server), env={"EDITOR": editor, "VISUAL": ""}) as terminal:
        terminal.type("shout")
        terminal.press("c-o")
        terminal.wait_until(lambda seen: "and more" in seen.text, "the edited text")
        terminal.press("enter")
        settle(terminal, "edited it is")
    assert asked(server) == ["SHOUT\nand more"]


def test_ctrl_r_finds_what_was_typed_before(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("one"), says("two"), says("once more")))
    with repl(coder_on(server)) as terminal:
        for line, answer in (("first apple", "one"), ("then pear", "two")):
            terminal.enter(line)
            settle(terminal, answer)
        terminal.press("c-r")
        terminal.type("app")
        shown = "default ❯ first apple"  # in the input, not only where it was sent
        terminal.wait_until(lambda seen: shown in seen.text and "search: app" in seen.text, "what was found")
        terminal.press("backspace", "backspace", "backspace")
        terminal.type("pear")
        terminal.wait_until(lambda seen: "default ❯ then pear" in seen.text, "another match")
        terminal.press("backspace", "backspace", "backspace", "backspace")
        terminal.type("app")
        terminal.wait_until(lambda seen: shown in seen.text, "the first match again")
        terminal.press("enter", "enter")
        settle(terminal, "once more")
    assert asked(server)[-1] == "first apple"


def test_a_pasted_name_of_an_image_sends_the_image(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    (tmp_path / "a shot.png").write_bytes(png(640, 480))
    server = serve(script(says("I see")))
    coder = coder_on(server)
    coder.home.mkdir(exist_ok=True)
    (coder.home / "config.json").write_text(SEES)
    with repl(coder) as terminal:
        terminal.type("look: ")
        terminal.paste(f"'{tmp_path / 'a shot.png'}'")
        terminal.wait_until(lambda seen: "[image #1: a shot.png 640x480" in typed_in(seen), "the image in the line")
        terminal.press("enter")
        settle(terminal, "I see")
    content = server.requests[0]["messages"][-1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url"]


def test_ctrl_c_after_something_was_sent_early_left_at_once(serve: Serve, coder_on: CoderOn) -> None:
    with at_terminal(coder_on(serve(script(says("early bird"))))) as terminal:
        terminal.enter("so early")
        settle(terminal, "early bird")
        terminal.press("c-c")
        terminal.wait_for("Ctrl+C again to exit")
        terminal.press("c-c")
        assert terminal.wait() == 0
