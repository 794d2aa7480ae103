"""`make quick` checks the types of whatever a change may have broken."""

from pathlib import Path

import pytest

from tools.check_types import files_to_check

TEXTS = {
    "box": "class Box: ...\n",
    "direct": "from coderelay.room.box import Box\n",
    "by_name": "from coderelay.room import (\n    box,\n)\n",
    "late": "def open_it() -> None:\n    from coderelay.room.box import Box\n",
    "other": "from coderelay.room.boxes import Boxes\n",
}
ROOM = Path("src/coderelay/room")


@pytest.mark.parametrize(
    ("changed", "checked"),
    [
        ({ROOM / "box.py"}, ["box", "by_name", "direct", "late"]),
        ({ROOM / "boxes.py"}, ["other"]),  # it was removed
        ({ROOM / "late.py"}, ["late"]),
        ({Path("pyproject.toml")}, [*TEXTS]),
        (set[Path](), []),
    ],
)
def test_what_changed_is_checked_with_what_imports_it(
    changed: set[Path], checked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ROOM.mkdir(parents=True)
    files = [ROOM / f"{name}.py" for name in TEXTS]
    for file, text in zip(files, TEXTS.values(), strict=True):
        file.write_text(text)

    assert sorted(each.stem for each in files_to_check(files, changed)) == sorted(checked)
