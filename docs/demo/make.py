"""Writes docs/demo/session.svg anew: a real `coder` at a real terminal in a small project, with a scripted model.

.venv/bin/python -m docs.demo.make
"""

import os
import sys
import tempfile
from pathlib import Path

from docs.demo.picture import picture
from tests.coder_process import Coder
from tests.model_server import bash, call, model_server_thread, proposes, says, script
from tests.terminal.pty import Terminal
from tests.terminal.repl import asks, make_repository, repl, settle

PICTURE = Path(__file__).with_name("session.svg")
COLUMNS, ROWS = 96, 52
FILES = {
    "pyproject.toml": "",
    "prices.py": "def total(prices):\n    return sum(prices) - max(prices)\n",
    "test_prices.py": "from prices import total\n\n\ndef test_total():\n    assert total([1, 2, 3]) == 6\n",
}
EDIT = call("edit", path="prices.py", old="sum(prices) - max(prices)", new="sum(prices)")
SUMMARY = """\
`total` left out the highest price. It now adds **all** of them, and the test passes.

| file | change |
| --- | --- |
| `prices.py` | one line |
"""


def main() -> None:
    answers = script(
        proposes(call("read", path="prices.py"), text="Let me look at the code first."),
        proposes(EDIT, bash("python -m pytest -q")),
        says(SUMMARY),
    )
    with tempfile.TemporaryDirectory() as root, model_server_thread(answers) as server:
        folder = Path(root) / "shop"
        folder.mkdir()
        make_repository(folder, FILES)
        coder = Coder(Path(root) / "home", folder, server.base_url)
        coder.env["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), coder.env["PATH"]])
        coder.env["HOME"] = root
        with repl(coder, columns=COLUMNS, rows=ROWS) as terminal:
            terminal.enter("the test of total fails, please repair it")
            asks(terminal, "Edit ")
            terminal.type("y")
            asks(terminal, "Run this command")
            terminal.type("y")
            settle(terminal, "one line")
            PICTURE.write_text(_drawn(terminal))
        if server.violations:
            raise SystemExit(f"the model server refused something: {server.violations}")


def _drawn(terminal: Terminal) -> str:
    screen = terminal.emulator
    rows = [
        row.cells(COLUMNS) for row in (*screen.scrollback, *(screen.rows[y] for y in range(len(terminal.screen))))
    ]
    return picture(rows, COLUMNS, "coder")


if __name__ == "__main__":
    main()
