"""Trust: for one folder, for exactly what it wanted when the person said yes."""

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from coderelay.config.trust_records_file import settings_needing_trust, trust, untrust
from coderelay.protocol.errors import BadInput
from tests.config.config_files import Places

LOOSE: dict[str, Any] = {
    "mode": "yolo",
    "permissions": {"allow": ["bash(make *)"], "deny": ["bash(rm *)"]},
    "auto_approve_ask": True,
    "providers": {"mine": {"base_url": "http://127.0.0.1:1/v1"}},
    "max_steps": 500,
}


@pytest.mark.quick
def test_x36_c35_a_trusted_folder_gets_what_it_wants(places: Places) -> None:
    places.write(person={"permissions.allow": ["read(*)"], "permissions.deny": ["bash(dd *)"]}, folder=LOOSE)
    assert list(places.load().untrusted) == [
        "mode",
        "permissions.allow",
        "auto_approve_ask",
        "providers.mine.base_url",
        "max_steps",
    ]
    trust(str(places.home), str(places.folder))
    config = places.load()
    now = config.settings
    assert (config.untrusted, config.unattended, now.mode, now.max_steps) == ({}, "allow", "yolo", 500)
    assert now.permissions.allow == ("read(*)", "bash(make *)")
    assert now.permissions.deny == ("bash(dd *)", "bash(rm *)")
    assert now.providers["mine"].base_url == "http://127.0.0.1:1/v1"
    assert untrust(str(places.home), str(places.folder))
    assert not untrust(str(places.home), str(places.folder))
    assert places.load().settings.mode == "default"


@pytest.mark.parametrize(
    "change",
    [
        {"model": "openai:other"},
        {"lang": "zh"},
        {"compaction.keep": 3},
        {"permissions": {"allow": ["bash(make *)"], "deny": ["bash(rm *)", "bash(mv *)"]}},
        {"bash.timeout_s": 5},
        {"workflow.verify_commands": ["pytest -q"]},
    ],
)
def test_x36_c47_trust_survives_what_loosens_nothing(places: Places, change: dict[str, Any]) -> None:
    places.write(folder=LOOSE)
    trust(str(places.home), str(places.folder))
    places.write(folder=change | LOOSE | {"permissions": change.get("permissions", LOOSE["permissions"])})
    assert (places.load().untrusted, places.load().settings.mode) == ({}, "yolo")


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "auto-edit"},
        {"permissions": {"allow": ["bash(*)"]}},
        {"providers": {"mine": {"base_url": "http://127.0.0.1:2/v1"}}},
        {"hooks": {"Stop": ["evil"]}},
        {"max_steps": 501},
        {"auto_approve_ask": False},
    ],
)
def test_x36_trust_ends_with_any_other_change(places: Places, change: dict[str, Any]) -> None:
    places.write(folder=LOOSE)
    trust(str(places.home), str(places.folder))
    places.write(folder=LOOSE | change)
    config = places.load()
    assert config.settings.mode == "default"
    assert (config.unattended, config.settings.hooks, config.settings.providers) == (None, {}, {})
    assert config.untrusted != {}
    places.write(folder=LOOSE)
    assert places.load().settings.mode == "yolo"


def test_x36_trust_is_for_one_real_folder(places: Places, tmp_path: Path) -> None:
    other = Places(tmp_path / "other")
    other.home = places.home
    places.write(folder=LOOSE)
    other.write(folder=LOOSE)
    linked = tmp_path / "link"
    linked.symlink_to(places.folder)
    trust(str(places.home), str(linked))
    assert places.load().settings.mode == "yolo"
    assert other.load().settings.mode == "default"
    linked.unlink()
    linked.symlink_to(other.folder)
    places.folder = linked
    assert places.load().settings.mode == "default"


def test_x36_only_what_was_seen_is_trusted(places: Places) -> None:
    seen = settings_needing_trust(str(places.home), str(places.write(folder=LOOSE).folder))
    places.write(folder=LOOSE | {"hooks": {"Stop": ["evil"]}})
    with pytest.raises(BadInput, match="was changed since it was shown"):
        trust(str(places.home), str(places.folder), seen)
    assert not (places.home / "trust.json").exists()


def test_x36_the_file_is_the_persons_alone(places: Places) -> None:
    places.home.rmdir()
    trust(str(places.home), str(places.write(folder=LOOSE).folder))
    file = places.home / "trust.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(json.loads(file.read_text())["folders"]) == [os.path.realpath(places.folder)]
    assert os.listdir(places.home) == ["trust.json"]


def test_x36_many_at_once_lose_nothing(places: Places, tmp_path: Path) -> None:
    folders = [Places(tmp_path / str(number)).write(folder=LOOSE).folder for number in range(12)]
    threads = [threading.Thread(target=trust, args=(str(places.home), str(each))) for each in folders]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert set(json.loads((places.home / "trust.json").read_text())["folders"]) == {str(each) for each in folders}


@pytest.mark.parametrize("content", ["", "{", '{"folders": []}', '{"folders": {"a": 3}}'])
def test_x36_a_damaged_trust_file_trusts_nothing_and_says_so(places: Places, content: str) -> None:
    places.write(folder={"model": "a:b"})
    (places.home / "trust.json").write_text(content)
    assert places.load().model == "a:b"  # nothing there needs trust
    places.write(folder=LOOSE)
    with pytest.raises(BadInput, match=r"trust\.json is damaged"):
        places.load()
