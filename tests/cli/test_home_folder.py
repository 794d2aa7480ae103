"""The home folder and `/`: nothing begins there unasked."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.model_server import ModelServerThread, says, script
from tests.plain_terminal import terminal
from tests.terminal.pty import at_terminal

CoderOn = Callable[[ModelServerThread], Coder]

HOME = "This is your home folder: an agent here can read and change everything below it.\n"
ROOT = "This is the root of the file system: an agent here can read and change all files that you can.\n"


@pytest.fixture
def at_home(serve: Serve, tmp_path: Path) -> Coder:
    """In the home folder itself."""
    server = serve(script(says("one"), says("two")))
    home = tmp_path / "person"
    home.mkdir()
    return Coder(tmp_path / "home", home, server.base_url)


def sessions(coder: Coder) -> int:
    return len(coder.run("sessions", "--json").out.splitlines())


def test_a_prompt_in_the_home_folder_is_refused_and_says_how_to_agree(at_home: Coder) -> None:
    hint = (
        "Change to your project's folder. To work here anyway, run `coder permissions trust "
        f"{at_home.cwd}` once, or pass `--cwd {at_home.cwd}` this time.\n"
    )
    assert at_home.run("-p", "hi") == Ran(1, "", f"coder: {HOME}{hint}")
    assert at_home.run(text="hi\n").err == f"coder: {HOME}{hint}"
    assert sessions(at_home) == 0


def test_a_prompt_in_the_root_folder_is_refused(serve: Serve, tmp_path: Path) -> None:
    ran = Coder(tmp_path / "home", Path("/"), serve(script()).base_url).run("-p", "hi")
    assert (ran.code, ran.err.startswith(f"coder: {ROOT}")) == (1, True)


def test_the_folder_that_is_named_is_meant(at_home: Coder) -> None:
    assert at_home.run("-p", "hi", "--cwd", str(at_home.cwd)).out == "one\n"
    assert at_home.run("-p", "hi", "--continue").out == "two\n"


def test_a_folder_in_the_home_folder_is_not_asked_about(at_home: Coder) -> None:
    inner = at_home.cwd / "project"
    inner.mkdir()
    at_home.cwd = inner
    assert at_home.run("-p", "hi").out == "one\n"


def test_agreeing_once_is_enough_and_can_be_taken_back(at_home: Coder) -> None:
    assert "cannot ask for confirmation without a terminal" in at_home.run("permissions", "trust").err
    trusted = at_home.run("permissions", "trust", "--yes")
    assert (trusted.code, trusted.out) == (0, f"{HOME}trusted {at_home.cwd}\n")
    assert json.loads((at_home.home / "trust.json").read_bytes()) == {"broad": [str(at_home.cwd)]}
    assert at_home.run("permissions", "trust").out == f"{at_home.cwd} is already trusted\n"
    assert at_home.run("-p", "hi").out == "one\n"
    assert at_home.run("permissions", "untrust").code == 0
    assert at_home.run("-p", "hi").code == 1


def test_an_agent_cannot_agree(at_home: Coder) -> None:
    ran = at_home.run("permissions", "trust", "--yes", env={"CODER": "1"})
    assert (ran.code, ran.err) == (1, "coder: a command that an agent runs cannot trust a folder\n")
    assert at_home.run("-p", "hi").code == 1


def test_a_person_is_asked_once(at_home: Coder) -> None:
    with at_terminal(at_home) as screen:
        screen.wait_until(lambda seen: "Work here anyway?" in seen.text, "the question")
        screen.type("n\n")
        assert screen.wait() == 1
        assert "not started" in screen.everything
    with at_terminal(at_home) as screen:
        screen.wait_until(lambda seen: "Work here anyway?" in seen.text, "the question, as before")
        screen.type("y\n")
        screen.wait_until(lambda seen: "❯" in seen.text, "the prompt")
        screen.press("c-d")
        assert screen.wait() == 0
    with at_terminal(at_home) as screen:
        screen.wait_until(lambda seen: "❯" in seen.text, "the prompt")
        assert "Work here anyway?" not in screen.everything


def test_a_plain_terminal_is_asked_too(at_home: Coder) -> None:
    with terminal(at_home) as screen:
        screen.wait_for("[y/N] ")
        screen.type("\x04")
        assert screen.wait() == 1
    with terminal(at_home) as screen:
        screen.wait_for("[y/N] ")
        screen.type("yes\n")
        screen.wait_for("openai:scripted")
