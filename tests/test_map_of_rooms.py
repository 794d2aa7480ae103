"""The map of rooms in AGENTS.md names what is there: files move, and a map that is not checked lags behind."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
ROOMS = REPOSITORY / "src" / "coderelay"
ROW = re.compile(r"^\| `(\w+)/` \| (.*) \|$", re.MULTILINE)
NAME = re.compile(r"`([a-z_]+(?:/[a-z_]+)*/?)`")


@pytest.mark.quick
@pytest.mark.parametrize(("room", "text"), ROW.findall((REPOSITORY / "AGENTS.md").read_text()))
def test_the_map_names_files_folders_and_words_of_the_code_that_exist(room: str, text: str) -> None:
    files = [*(ROOMS / room).rglob("*.py"), *(ROOMS / "testing").rglob("*.py")]
    paths = "\n".join(str(file.relative_to(ROOMS)) for file in files)
    code = "\n".join(file.read_text() for file in files)
    named = [name.rstrip("/") for name in NAME.findall(text)]
    assert [name for name in named if not _is_there(name, paths + code)] == []


def _is_there(name: str, room: str) -> bool:
    return re.search(rf"\b{name}\b", room) is not None or (ROOMS / f"{name}.py").exists()


@pytest.mark.quick
def test_the_map_has_every_room() -> None:
    text = (REPOSITORY / "AGENTS.md").read_text()
    rooms = {path.name for path in ROOMS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert {name for name in rooms if f"`{name}/`" not in text} == set()
