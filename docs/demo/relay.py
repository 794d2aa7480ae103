"""Writes docs/demo/relay.svg anew: `coder` is killed while it asks, another terminal answers, and the work goes on.

Two real terminals with real shells, and a scripted model. The picture moves: each frame is what both showed then.

.venv/bin/python -m docs.demo.relay
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from pyte.screens import Char

from docs.demo.picture import film
from tests.coder_process import Coder
from tests.model_server import call, model_server_thread, proposes, says, script
from tests.terminal.pty import Terminal, at_terminal
from tests.terminal.repl import is_asking, is_idle, make_repository

FILM = Path(__file__).with_name("relay.svg")
COLUMNS, ROWS = 74, 19
SHELL = ("-c", "import os; os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])")
FILES = {"prices.py": "def total(prices):\n    return sum(prices) - max(prices)\n"}
EDIT = call("edit", path="prices.py", old="sum(prices) - max(prices)", new="sum(prices)")


class Recording:
    def __init__(self, laptop: Terminal, other: Terminal) -> None:
        self._screens = (laptop, other)
        self.frames: list[tuple[float, Sequence[Sequence[Sequence[Char]]]]] = []

    def shot(self, seconds: float) -> None:
        """What both terminals show now; shown for so long."""
        rows = [[each.emulator.rows[y].cells(COLUMNS) for y in range(len(each.screen))] for each in self._screens]
        self.frames.append((seconds, rows))


def main() -> None:
    answers = script(
        proposes(EDIT, text="`total` leaves out the highest price."), says("`total` adds all prices now.")
    )
    with tempfile.TemporaryDirectory() as root, model_server_thread(answers) as server:
        folder = Path(root) / "shop"
        folder.mkdir()
        make_repository(folder, FILES)
        coder = Coder(Path(root) / "home", folder, server.base_url)
        coder.env["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), coder.env["PATH"]])
        coder.env |= {"HOME": root, "PS1": "$ ", "BASH_SILENCE_DEPRECATION_WARNING": "1"}
        with _shell(coder) as laptop, _shell(coder) as other:
            reel = Recording(laptop, other)
            _play(reel, laptop, other)
        if server.violations:
            raise SystemExit(f"the model server refused something: {server.violations}")
    FILM.write_text(film(reel.frames, COLUMNS, ROWS, ("on the laptop", "in another terminal, from anywhere")))


def _shell(coder: Coder) -> AbstractContextManager[Terminal]:
    return at_terminal(coder, columns=COLUMNS, rows=ROWS, program=SHELL)


def _play(reel: Recording, laptop: Terminal, other: Terminal) -> None:
    _enter(laptop, "coder", reel)
    laptop.wait_until(lambda seen: "tokens" in seen.text and is_idle(seen), "the prompt of coder")
    reel.shot(1.0)
    laptop.type("total is wrong, please repair it")
    laptop.wait_for("repair it")
    reel.shot(1.2)
    laptop.press("enter")
    laptop.wait_until(lambda seen: "prices.py" in seen.all_text and is_asking(seen), "the question")
    reel.shot(3.0)
    _enter(other, f"kill -9 {_program_in(laptop)}", reel)
    laptop.wait_for("Killed")
    _ended(other)
    reel.shot(2.5)
    _enter(other, "coder asks", reel)
    listed = other.wait_for("prices.py  (")
    ask = next(row.split()[0] for row in listed.rows if "prices.py  (" in row)
    _ended(other)
    reel.shot(2.0)
    _enter(other, f"coder answer {ask} allow", reel)
    other.wait_for("adds all prices now")
    _ended(other)
    reel.shot(3.0)
    _enter(laptop, "coder --continue", reel)
    laptop.wait_until(lambda seen: "adds all prices now" in seen.all_text and is_idle(seen), "the conversation")
    reel.shot(4.0)


def _enter(terminal: Terminal, line: str, reel: Recording) -> None:
    _ended(terminal)
    terminal.type(line)
    terminal.wait_for(line)
    reel.shot(1.2)
    terminal.press("enter")


def _ended(terminal: Terminal) -> None:
    """Until the shell asks for a command again."""
    terminal.wait_until(lambda seen: seen.cursor_row.strip() == "$", "the prompt of the shell")


def _program_in(terminal: Terminal) -> int:
    shell = terminal.process.pid
    return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])


if __name__ == "__main__":
    main()
