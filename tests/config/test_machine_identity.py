"""The id of a machine, kept in its CODER_HOME."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coderelay.config.machine_identity import machine_identity
from coderelay.protocol.errors import StoreFailed


def test_processes_that_start_at_once_agree_on_the_id(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(machine_identity, [str(home)] * 32))
    assert found == {machine_identity(str(home))}
    assert (home / "machine").stat().st_mode & 0o777 == 0o600
    assert [each.name for each in home.iterdir()] == ["machine"]
    assert machine_identity(str(tmp_path / "other")) not in found


@pytest.mark.parametrize("content", ["a\0b\n", "x" * 500, "one\ntwo\n"])
def test_a_file_that_holds_no_id_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "machine").write_text(content)
    with pytest.raises(StoreFailed, match="does not contain this machine's id"):
        machine_identity(str(tmp_path))


def test_an_id_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file, not a folder")
    with pytest.raises(StoreFailed, match="cannot save this machine's id in"):
        machine_identity(str(tmp_path / "home"))


def test_an_empty_file_is_told_and_not_taken_for_an_id(tmp_path: Path) -> None:
    (tmp_path / "machine").touch()
    with pytest.raises(StoreFailed, match="does not contain this machine's id"):
        machine_identity(str(tmp_path))
