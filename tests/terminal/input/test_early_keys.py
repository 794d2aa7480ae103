"""At a real terminal: keys that come early, and a program that is put to sleep."""

import fcntl
import os
import subprocess
import sys
import termios
from collections.abc import Generator
from contextlib import contextmanager

from tests.plain_terminal import Terminal

_PROMPT = """
import sys
from coderelay.surfaces.terminal.input.pasted_text_and_images import Attachments
from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.layout import BufferControl, Layout, Window
from coderelay.surfaces.terminal.input.key_bindings import make_bindings

class Actions:
    def send(self, text):
        app.exit(result=text)
        return False
    def interrupt(self): return False
    def leave(self): app.exit(result=None)
    def hint(self, text): pass
    def cycle_mode(self): pass
    def clear_screen(self): pass
    def answer_key(self, key): return False
    def recall(self): return False
    def move(self, by): return False

app = Application(
    Layout(Window(BufferControl(Buffer(multiline=True)))), key_bindings=make_bindings(Actions(), Attachments())
)
"""

_EARLY = """
import select, sys
from coderelay.surfaces.terminal.input.early_keys import keep_early_keys
with keep_early_keys():
    print("loading", flush=True)
    select.select([sys.stdin], [], [])
""" + "".join(f"    {each}\n" for each in [*_PROMPT.strip().splitlines(), 'print("sent", repr(app.run()))'])

_BEFORE = "import sys, termios; before = termios.tcgetattr(0)\n"
_STATE = """
print("as before:", termios.tcgetattr(0) == before)
"""

_SLEEPER = (
    _PROMPT
    + """
import os, signal
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(0, os.getpid())
    app.after_render += lambda _: print("ready", flush=True) if app.render_counter == 1 else None
    print("sent", repr(app.run()), flush=True)
    os._exit(0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
_, status = os.waitpid(child, os.WUNTRACED)
os.tcsetpgrp(0, os.getpid())
print("stopped by", signal.Signals(os.WSTOPSIG(status)).name if os.WIFSTOPPED(status) else None, flush=True)
sys.stdin.readline()
os.tcsetpgrp(0, child)
os.kill(child, signal.SIGCONT)
os.waitpid(child, 0)
"""
)


@contextmanager
def program(code: str) -> Generator[Terminal]:
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_c20_what_is_typed_before_the_prompt_is_there_is_sent_and_shown_once() -> None:
    with program(_EARLY) as terminal:
        terminal.wait_for("loading\n")
        terminal.type("early words\r")
        shown = terminal.wait_for("sent 'early words'")
        assert "^M" not in shown
        assert terminal.wait() == 0


def test_the_terminal_is_left_as_it_was_found() -> None:
    with program(_BEFORE + _EARLY + _STATE) as terminal:
        terminal.wait_for("loading\n")
        terminal.type("x\r")
        terminal.wait_for("sent 'x'")
        terminal.wait_for("as before: True")


def test_ctrl_z_puts_the_program_to_sleep_and_the_text_is_there_afterwards() -> None:
    with program(_SLEEPER) as terminal:
        terminal.wait_for("ready")
        terminal.type("half ")
        terminal.wait_for("half")
        terminal.type("\x1a")
        terminal.wait_for("stopped by SIGTSTP")
        terminal.type("go on\n")
        terminal.wait_for("half")
        terminal.type("and half\r")
        terminal.wait_for("sent 'half and half'")
