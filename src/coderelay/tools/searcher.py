"""The programs that search for grep: ripgrep where it is installed, our own everywhere."""

import os
import re
import sys
from collections.abc import Mapping
from typing import Protocol

from coderelay.tools.start import Start
from coderelay.tools.walk import KEPT_BY_TOOLS
from coderelay.workspace.processes import Finished as Ended
from coderelay.workspace.programs import find_program
from coderelay.workspace.workspace import Workspace

_MOST_IN_A_FILE = 1000
_LINE_BYTES = 2400
_REFUSED = 2


class Searcher(Protocol):
    """Writes `path NUL number:line` for each line that matches, with paths relative to the root of the start."""

    def argv(self, pattern: str, start: Start, glob: str) -> list[str]: ...

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]: ...

    def refused(self, ended: Ended) -> bool:
        """It did not understand the pattern."""
        ...


class Ripgrep:
    """Nothing that a repository or a person has configured changes what it does; it starts no other program."""

    def __init__(self, program: str) -> None:
        self._program = program

    def argv(self, pattern: str, start: Start, glob: str) -> list[str]:
        where = os.path.join(".", start.folder, start.file)
        return [
            self._program,
            "--no-config",
            *("--null", "--line-number", "--with-filename", "--no-heading", "--color=never", "--no-messages"),
            *("--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-dot", "--crlf"),
            *(f"--glob=!{name}" for name in sorted(KEPT_BY_TOOLS)),
            *_by_name(glob),
            f"--max-count={_MOST_IN_A_FILE}",
            f"--max-columns={_LINE_BYTES}",
            "--max-columns-preview",
            f"--regexp={pattern}",
            "--",
            where,
        ]

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in environment.items() if name != "RIPGREP_CONFIG_PATH"}

    def refused(self, ended: Ended) -> bool:
        return ended.exit_code == _REFUSED and "\0" not in ended.output and "regex" in ended.output


class OwnSearcher:
    """`search.py` in a process of its own."""

    def argv(self, pattern: str, start: Start, glob: str) -> list[str]:
        above = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        script = (
            "import sys; sys.path.insert(0, sys.argv[1]); "
            "from coderelay.tools.search import main; sys.exit(main(*sys.argv[2:]))"
        )
        arguments = [start.root, start.folder, start.file, pattern, glob]
        return [sys.executable, "-I", "-S", "-W", "ignore", "-X", "utf8", "-c", script, above, *arguments]

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        return dict(environment)

    def refused(self, ended: Ended) -> bool:
        return ended.exit_code == _REFUSED


def find_ripgrep(workspace: Workspace) -> str | None:
    return find_program("rg", workspace.environment.get("PATH", ""), workspace.disk.roots)


def _by_name(glob: str) -> list[str]:
    """Spares ripgrep the files whose names do not fit; their paths are looked at later. Its own globs are of no use:
    they would bring back what git ignores."""
    last = glob.rpartition("/")[2]
    simple = re.fullmatch(r"[\w.*?+,{}-]+", last) is not None and last != "**"
    if not simple or last.count("{") != last.count("}") or last.count("{") > 1:
        return []
    return [f"--type-add=wanted:{last}", "--type=wanted"]
