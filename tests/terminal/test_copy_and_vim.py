"""`/copy` reaches the clipboard through the terminal and the desktop's program; `/vim` gives the input vi's keys."""

import json
import os
import re
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, hangs, proposes, says, script
from tests.plain_terminal import terminal as plain_terminal
from tests.skills.test_slash_lines import told
from tests.terminal.pty import Terminal
from tests.terminal.repl import asked, repl, settle, typed_in, works

CoderOn = Callable[[ModelServerThread], Coder]


def program(folder: Path, name: str, code: str) -> str:
    """A program on the PATH; the PATH with it."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{code}\n")
    file.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def escape(terminal: Terminal) -> None:
    terminal.press("escape")
    terminal.wait_until(lambda seen: "-- NORMAL --" in seen.text, "vi's normal mode")


def test_the_last_answer_is_copied_by_the_terminal_and_by_the_desktop(
    serve: Serve, coder_on: CoderOn, tmp_path: Path
) -> None:
    server = serve(script(says("first"), proposes(bash("true")), says("Grüße,\n\n`you`")))
    kept = tmp_path / "kept"
    path = program(tmp_path / "bin", "wl-copy", f"cat > {kept}")
    with repl(coder_on(server), "--mode", "yolo", env={"PATH": path, "WAYLAND_DISPLAY": "wayland-0"}) as terminal:
        terminal.enter("/copy")
        settle(terminal, "there is no answer to copy yet")
        terminal.enter("one")
        settle(terminal, "first")
        terminal.enter("two")
        settle(terminal, "Grüße")
        terminal.enter("/copy")
        settle(terminal, "copied 13 characters to the clipboard")
        found = re.search(rb"\x1b\]52;c;([\w+/=]+)\x07", terminal.raw)
    assert found is not None
    assert b64decode(found[1]).decode() == "Grüße,\n\n`you`"
    assert kept.read_text() == "Grüße,\n\n`you`"


def test_plain_lines_are_copied_by_a_program_or_not_at_all(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    coder = coder_on(serve(script(says("first"))))
    kept = tmp_path / "kept"
    coder.env |= {"PATH": program(tmp_path / "bin", "xclip", f"[ -e {kept} ] && cat > {kept}"), "DISPLAY": ":0"}
    with plain_terminal(coder) as screen:
        screen.wait_for("> ")
        assert told(screen, "one") == "first"
        assert told(screen, "/copy") == "not copied: install wl-copy, xclip or pbcopy, or use /export"
        kept.touch()
        assert told(screen, "/copy") == "copied 5 characters to the clipboard"
        assert "\x1b" not in told(screen, "/vim")
    assert kept.read_text() == "first"


def test_vi_keys_edit_the_line_and_escape_on_an_empty_one_stops(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("heard"), hangs(says("never"), 0)))
    coder = coder_on(server)
    coder.home.mkdir()
    (coder.home / "config.json").write_text(json.dumps({"editor.vim": True}))
    with repl(coder) as terminal:
        terminal.type("hello wurld")
        terminal.wait_until(lambda seen: typed_in(seen) == "hello wurld", "the text")
        escape(terminal)
        terminal.type("bcwworld")
        terminal.wait_until(lambda seen: typed_in(seen) == "hello world", "the word changed by cw")
        escape(terminal)
        terminal.press("enter")
        settle(terminal, "heard")
        terminal.type("y is typed, not obeyed")
        terminal.wait_until(lambda seen: typed_in(seen) == "y is typed, not obeyed", "insert mode again")
        terminal.press("enter")
        works(terminal, "y is typed")
        terminal.press("escape")
        settle(terminal, "stopped")
        terminal.enter("/vim off")
        settle(terminal, "vi keys: off")
    assert asked(server) == ["hello world", "y is typed, not obeyed"]
