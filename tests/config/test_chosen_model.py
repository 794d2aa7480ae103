"""`/model` writes the folder's file for later sessions, and only says so if it cannot."""

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from coderelay.config.edit_config import remember_model
from tests.config.config_files import Places


@pytest.mark.quick
def test_c21_c47_later_sessions_have_the_model(places: Places) -> None:
    places.folder_file.parent.rmdir()
    assert remember_model(str(places.folder), "openai:gpt-5.5") is None
    assert places.load().model == "openai:gpt-5.5"
    assert json.loads(places.folder_file.read_text()) == {"model": "openai:gpt-5.5"}
    assert stat.S_IMODE(places.folder_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(places.folder_file.parent.stat().st_mode) == 0o700
    assert remember_model(str(places.folder), "openai:中文") is None
    assert places.load().model == "openai:中文"


def test_c47_other_keys_stay_in_their_order(places: Places) -> None:
    keys = {
        "lang": "zh",
        "compaction.keep": 3,
        "model": "a:b",
        "unknown to this version": [1.5, {"x": "中"}],
        "mode": "plan",
    }
    places.write(folder=keys).folder_file.chmod(0o644)
    assert remember_model(str(places.folder), "c:d") is None
    assert list(json.loads(places.folder_file.read_text()).items()) == list((keys | {"model": "c:d"}).items())
    assert stat.S_IMODE(places.folder_file.stat().st_mode) == 0o644
    assert os.listdir(places.folder_file.parent) == ["config.json"]


def test_c47_the_same_model_again_writes_nothing(places: Places) -> None:
    places.folder_file.write_text('{"model":"a:b"}')
    assert remember_model(str(places.folder), "a:b") is None
    assert places.folder_file.read_text() == '{"model":"a:b"}'


def test_c47_git_does_not_see_it_unless_the_project_has_one(places: Places) -> None:
    assert shutil.which("git")
    subprocess.run(["git", "init", "-q", str(places.folder)], check=True)
    (places.folder / ".coder" / "skills").mkdir()
    (places.folder / ".coder" / "skills" / "a.md").write_text("a skill")
    assert remember_model(str(places.folder), "a:b") is None
    status = ["git", "-C", str(places.folder), "status", "--porcelain", "-uall"]
    assert subprocess.check_output(status, text=True) == "?? .coder/skills/a.md\n"


@pytest.mark.parametrize("content", ['{"model": "a:b",', "[]", '{"model": "a:b", "model": "c:d"}', '{"a": "\xff"}'])
def test_c47_a_broken_file_is_left_as_it_is(places: Places, content: str) -> None:
    places.folder_file.write_bytes(content.encode("latin-1"))
    said = remember_model(str(places.folder), "e:f")
    assert said is not None
    assert said.startswith(f"the model was not saved for later sessions: {places.folder_file}")
    assert places.folder_file.read_bytes() == content.encode("latin-1")
    assert os.listdir(places.folder_file.parent) == ["config.json"]


def test_c47_x36_links_out_of_the_folder_are_not_written_through(places: Places, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "config.json").write_text("{}")
    places.folder_file.symlink_to(outside / "config.json")
    said = remember_model(str(places.folder), "a:b")
    assert said is not None
    assert "leads out of the folder" in said
    places.folder_file.unlink()
    places.folder_file.symlink_to(outside / "new.json")
    assert "leads out of the folder" in (remember_model(str(places.folder), "a:b") or "")
    places.folder_file.unlink()
    places.folder_file.parent.rmdir()
    places.folder_file.parent.symlink_to(outside)
    assert "leads out of the folder" in (remember_model(str(places.folder), "a:b") or "")
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"config.json": "{}"}


def test_c47_where_nothing_can_be_written_it_is_only_said(places: Places) -> None:
    own = places.folder / ".coder"
    own.rmdir()
    own.write_text("in the way")
    said = remember_model(str(places.folder), "a:b")
    assert said == f"the model was not saved for later sessions: cannot write {places.folder_file}: Not a directory"
    assert remember_model(str(places.folder / "gone"), "a:b") is not None
    os.unlink(own)
    os.mkfifo(own)
    assert remember_model(str(places.folder), "a:b") is not None


def test_c47_model_name_with_invalid_unicode_is_reported(places: Places) -> None:
    said = remember_model(str(places.folder), "a:\udcff")
    assert said is not None
    assert os.listdir(places.folder_file.parent) == []
