"""`coder` with configuration files, as a person runs it."""

import json
import os
from pathlib import Path

import pytest

from tests.coder_process import Coder, Ran
from tests.config.config_files import Places
from tests.conftest import Serve
from tests.model_server import bash, proposes, says, script
from tests.plain_terminal import terminal

LOOSE = {"mode": "yolo", "hooks": {"Stop": ["echo \u001b[31m\u202e"]}, "model": "openai:other"}


@pytest.fixture
def coder(places: Places) -> Coder:
    return Coder(places.home, places.folder, None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"compaction.threshold": "high"}', ': compaction.threshold must be a number between 0 and 1, not "high"'),
        ('{"model": "a:b"', ": line 1, column 16: invalid JSON: Expecting ',' delimiter"),
        ('{"modell": "a:b"}', ": unknown key modell\nDid you mean model?"),
    ],
)
def test_x23_a_broken_file_stops_a_turn_with_its_mistake_and_changes_nothing(
    coder: Coder, places: Places, content: str, said: str
) -> None:
    places.person_file.write_text(content)
    assert coder.run("-p", "hi") == Ran(1, "", f"coder: {places.person_file}{said}\n")
    assert coder.run("sessions") == Ran(1, "", f"coder: {places.person_file}{said}\n")
    assert os.listdir(places.home) == ["config.json"]
    assert places.person_file.read_text() == content


def test_c35_x04_x36_a_folder_allows_by_itself_only_when_trusted(serve: Serve, places: Places) -> None:
    places.write(folder={"auto_approve_ask": True})
    server = serve(script(proposes(bash("touch a")), says("no"), proposes(bash("touch b")), says("yes")))
    coder = Coder(places.home, places.folder, server.base_url)
    assert coder.run("-p", "first").code == 3
    assert coder.run("permissions", "trust", "--yes").code == 0
    assert coder.run("-p", "second") == Ran(0, "yes\n", "")
    assert sorted(path.name for path in places.folder.glob("[!.]*")) == ["b"]


def test_x23_x36_a_broken_file_in_the_folder_stops_a_turn_too(coder: Coder, places: Places) -> None:
    os.mkfifo(places.folder_file)
    assert coder.run("-p", "hi") == Ran(1, "", f"coder: {places.folder_file} is not a regular file\n")
    assert os.listdir(places.home) == []


def test_x23_doctor_names_the_mistake(coder: Coder, places: Places) -> None:
    places.write(person={"web.port": 0})
    ran = coder.run("doctor")
    assert ran.code == 1
    assert f"{places.person_file}: web.port must be a whole number between 1 and 65535, not 0" in ran.out
    assert os.listdir(places.home) == ["config.json"]


def test_x23_the_persons_file_names_the_model(coder: Coder, places: Places) -> None:
    places.write(person={"model": "nowhere:x"})
    assert "unknown provider 'nowhere'" in coder.run("-p", "hi").err


def test_x36_trusting_shows_what_it_means_and_asks(coder: Coder, places: Places) -> None:
    places.write(folder=LOOSE)
    with terminal(coder, "permissions", "trust") as screen:
        shown = screen.wait_for("[y/N] ")
        screen.type("n\n")
        assert screen.wait() == 1
    assert shown == (
        f"{places.folder_file} sets:\n"
        '  mode = "yolo"\n'
        '  hooks.Stop = ["echo \\u001b[31m\\u202e"]\n'
        "If you trust it, its commands and rules apply like your own. Trust it? [y/N] "
    )
    assert not (places.home / "trust.json").exists()
    with terminal(coder, "permissions", "trust") as screen:
        screen.wait_for("[y/N] ")
        screen.type("y\n")
        screen.wait_for(f"trusted {places.folder}\n")
        assert screen.wait() == 0
    assert places.load().settings.mode == "yolo"
    assert coder.run("permissions", "trust") == Ran(0, f"{places.folder} is already trusted\n", "")
    assert coder.run("permissions", "untrust") == Ran(0, f"{places.folder} is no longer trusted\n", "")
    assert places.load().settings.mode == "default"


def test_x36_without_a_terminal_it_takes_a_yes(coder: Coder, places: Places, tmp_path: Path) -> None:
    places.write(folder=LOOSE)
    assert coder.run("permissions", "trust", text="y\n").code == 1
    assert not (places.home / "trust.json").exists()
    elsewhere = Coder(places.home, tmp_path, None)
    assert elsewhere.run("permissions", "trust", "work", "--yes").out.endswith(f"\ntrusted {places.folder}\n")
    assert list(json.loads((places.home / "trust.json").read_text())["folders"]) == [str(places.folder)]
    assert elsewhere.run("permissions", "untrust", "work").code == 0
    assert elsewhere.run("permissions", "untrust", "work") == Ran(0, f"{places.folder} is not trusted\n", "")


def test_x36_what_an_agent_runs_cannot_trust(coder: Coder, places: Places) -> None:
    places.write(folder=LOOSE)
    ran = coder.run("permissions", "trust", "--yes", env={"CODER": "1"})
    assert ran == Ran(1, "", "coder: a command that an agent runs cannot trust a folder\n")
    assert not (places.home / "trust.json").exists()


def test_x36_nothing_to_trust_and_nothing_there(coder: Coder, places: Places) -> None:
    places.write(folder={"model": "a:b", "permissions.deny": ["bash(rm *)"]})
    assert (
        coder.run("permissions", "trust", "--yes").out
        == f"nothing to trust: {places.folder} does not loosen any of your settings\n"
    )
    missing = coder.run("permissions", "trust", "gone")
    assert (missing.code, missing.err) == (1, f"coder: no such folder: {places.folder}/gone\n")
    places.folder_file.write_text("{")
    broken = coder.run("permissions", "trust", "--yes")
    assert (broken.code, broken.out) == (1, "")
    assert f"coder: {places.folder_file}: line 1" in broken.err


def test_reading_two_files_loads_nothing_heavy(coder: Coder, places: Places) -> None:
    places.write(person={"model": "nowhere:x"}, folder=LOOSE)
    loaded = coder.run("-p", "hi", env={"PYTHONPROFILEIMPORTTIME": "1"}).err
    for module in ("json", "hashlib", "difflib", "dataclasses", "coderelay.config.config_error_messages"):
        assert f" {module}\n" not in loaded


def test_x36_trusting_shows_the_whole_of_a_command_that_looks_like_a_login(coder: Coder, places: Places) -> None:
    hook, token = "echo see https://$(id>OWNED)@docs.example.com", "v1 $(id) ${AWS_SECRET_ACCESS_KEY}"
    places.write(folder={"hooks": {"Stop": [hook]}, "mcp_servers": {"x": {"command": "y", "env": {"TOKEN": token}}}})
    shown = coder.run("permissions", "trust", "--yes").out
    assert hook in shown
    assert token in shown
