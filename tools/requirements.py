"""Lists the ids of a specification that no test names: `test_c30_…` in the name of a test, `C-30` in a docstring.

requirements.py SPEC [ID ...]     with ids or ranges (C-01..C-03), only those
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ID = re.compile(r"\b([A-EX])-(\d\d)\b")
IN_TEST_NAME = re.compile(r"_([a-ex])(\d\d)(?=_|\b)")


def main(arguments: list[str]) -> int:
    if not arguments or not Path(arguments[0]).is_file():
        sys.stderr.write(f"{__doc__}\nno specification at {arguments[0] if arguments else '(not given)'}\n")
        return 2
    wanted = _required(Path(arguments[0]).read_text())
    asked = _asked(arguments[1:])
    wanted = [each for each in wanted if each in asked] if asked else wanted
    named = _named(Path(__file__).parent.parent / "tests")
    missing = [each for each in wanted if each not in named]
    for each in missing:
        sys.stdout.write(f"{each}\n")
    sys.stdout.write(f"{len(wanted) - len(missing)} of {len(wanted)} have a test that names them\n")
    return 1 if asked and missing else 0


def _required(text: str) -> list[str]:
    """Ids where they are defined: at the start of a list item or of a table row, also several in one line."""
    lines = [line for line in text.splitlines() if re.match(r"(- |\| )[A-EX]-\d\d\b", line)]
    found: list[str] = []
    for line in lines:
        starts = re.findall(r"(?:^- |^\| |\. )([A-EX]-\d\d)\b(?= )", line)
        found += [each for each in starts if each not in found]
    return found


def _asked(words: list[str]) -> set[str]:
    asked: set[str] = set()
    for word in words:
        first, _, last = word.partition("..")
        letter, low = first.split("-")
        high = last.split("-")[-1] if last else low
        asked |= {f"{letter}-{number:02}" for number in range(int(low), int(high) + 1)}
    return asked


def _named(folder: Path) -> set[str]:
    found = [each for path in sorted(folder.rglob("*.py")) for each in _named_in(path.read_text())]
    return {f"{letter.upper()}-{number}" for letter, number in found}


def _named_in(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        yield from ID.findall(line.partition("# ")[2])
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield from IN_TEST_NAME.findall(node.name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            yield from ID.findall(ast.get_docstring(node) or "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
