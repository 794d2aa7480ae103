"""The configuration of a folder is one object, read once for each change of its files."""

import os

import pytest

from coderelay.config import loaded_config as loading
from coderelay.config.folder_cache import RECENT
from coderelay.config.loaded_config import CurrentConfig
from coderelay.config.trust_records_file import trust, untrust
from coderelay.host.folder_config import FolderConfigs
from coderelay.policy.secrets.masking import Secrets
from coderelay.protocol.errors import BadInput
from coderelay.workspace.processes.command_runner import Processes
from tests.config.config_files import Places


def current(places: Places) -> CurrentConfig:
    return CurrentConfig(places.load(), {})


def read_again(home: str) -> None:
    raise AssertionError("the files are read again")


def test_files_that_have_not_changed_are_read_once(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    places.write(person={"max_steps": 7}, folder={"max_steps": 5})
    configs = current(places)
    monkeypatch.setattr(loading, "person_settings", read_again)
    first = configs.of(str(places.folder))
    assert first.settings.max_steps == 5
    assert configs.of(str(places.folder)) is first


def test_each_change_is_seen_at_once(places: Places) -> None:
    places.write(person={"max_steps": 7})
    configs, folder = current(places), str(places.folder)
    assert configs.of(folder).settings.max_steps == 7
    places.write(folder={"max_steps": 5, "permissions": {"allow": ["bash(make)"]}})
    assert (configs.of(folder).settings.max_steps, configs.of(folder).settings.permissions.allow) == (5, ())
    trust(str(places.home), folder)
    assert configs.of(folder).settings.permissions.allow == ("bash(make)",)
    untrust(str(places.home), folder)
    assert configs.of(folder).settings.permissions.allow == ()
    os.unlink(places.folder_file)
    assert configs.of(folder).settings.max_steps == 7


def test_a_wrong_file_is_refused_until_it_is_mended(places: Places) -> None:
    configs, folder = current(places), str(places.folder)
    places.folder_file.parent.mkdir(exist_ok=True)
    places.folder_file.write_text("{")
    for _ in range(2):
        with pytest.raises(BadInput, match="invalid JSON"):
            configs.of(folder)
    places.write(folder={"max_steps": 5})
    assert configs.of(folder).settings.max_steps == 5


def test_folders_that_no_session_uses_are_dropped_and_those_in_use_stay_as_they_are(places: Places) -> None:
    """Symptom: a process that lived long kept the configuration of every folder it had ever seen."""
    used = [str(places.folder / f"used{number}") for number in range(100)]
    folders = FolderConfigs(CurrentConfig(places.load(), {}, lambda: used), {}, Processes(), Secrets())
    first = [folders.of(each) for each in used]
    others = [folders.of(str(places.folder / f"other{number}")) for number in range(300)]
    assert [folders.of(each) for each in used] == first
    assert all(folders.of(each.path) is each for each in (*first, *others[-RECENT:]))
    assert len(folders) < len(used) + 3 * RECENT


def test_a_folder_is_the_same_object_until_its_configuration_changes(places: Places) -> None:
    folders = FolderConfigs(current(places), {}, Processes(), Secrets())
    first = folders.of(str(places.folder))
    assert folders.of(str(places.folder)) is first
    assert first.rules is first.rules
    places.write(folder={"permissions": {"deny": ["bash(rm)"]}})
    second = folders.of(str(places.folder))
    assert (first.rules.deny, [each.text for each in second.rules.deny]) == ((), ["bash(rm)"])
