"""Ids that are shortened: long enough, and only one fits."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import ids_meant, the_id_meant
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, proposes, says, script

CoderOn = Callable[[ModelServerThread], Coder]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("given", "meant"),
    [("", []), ("abc", []), ("abcd", ["abcd-1", "abcd-2"]), ("abcd-1", ["abcd-1"]), ("x", ["x"]), ("zzzz", [])],
)
def test_which_ids_are_meant(given: str, meant: list[str]) -> None:
    assert ids_meant(given, ["abcd-1", "abcd-2", "x"]) == meant


@pytest.mark.quick
def test_several_that_fit_are_listed() -> None:
    with pytest.raises(BadInput, match="'abcd' matches 2 ids:\n  abcd-1\n  abcd-2\nType more of the id"):
        the_id_meant("abcd", ["abcd-1", "abcd-2"])


@pytest.fixture
def waiting(serve: Serve, coder_on: CoderOn) -> Coder:
    """With one open ask, in the only session."""
    coder = coder_on(serve(script(proposes(bash("touch ran")), says("done"))))
    assert coder.run("-p", "go", "--unattended", "park").code == 5
    return coder


def the_ask(coder: Coder) -> dict[str, Any]:
    return json.loads(coder.run("asks", "--json").out)


@pytest.mark.parametrize("given", ["", " ", "a", "-"])
def test_an_empty_id_answered_the_only_open_ask(waiting: Coder, folder: Path, given: str) -> None:
    ask = the_ask(waiting)["ask"]["id"]
    for short in (given, ask[:3]):
        ran = waiting.run("answer", "--", short, "allow")
        assert ran.code == 1
        assert f"coder: {short!r} is too short for an id\nType at least 4 characters of it.\n" == ran.err
    assert the_ask(waiting)["ask"]["id"] == ask
    assert not (folder / "ran").exists()


def test_four_characters_of_an_ask_are_enough(waiting: Coder, folder: Path) -> None:
    assert waiting.run("answer", the_ask(waiting)["ask"]["id"][:4], "allow").code == 0
    assert (folder / "ran").exists()


@pytest.mark.parametrize("action", ["show", "export", "delete"])
def test_the_beginning_of_a_session_id_is_enough_and_less_is_refused(waiting: Coder, action: str) -> None:
    session = the_ask(waiting)["session"]
    for short in ("", session[:3]):
        assert waiting.run("sessions", action, short).err == (
            f"coder: {short!r} is too short for an id\nType at least 4 characters of it.\n"
        )
    assert waiting.run("sessions", action, "nothing-like-it").code == 1
    assert waiting.run("sessions", action, session[:8]).code == 0


@pytest.mark.parametrize("arguments", [["--resume", "", "-p", "again"], ["resume", ""], ["resume", " "]])
def test_an_empty_session_id_began_a_new_session(waiting: Coder, arguments: list[str]) -> None:
    ran = waiting.run(*arguments)
    assert ran.code == 1
    assert "no session " in ran.err
    assert len(waiting.run("sessions", "--json").out.splitlines()) == 1


def test_an_empty_approval_id_revoked_the_only_approval(waiting: Coder) -> None:
    assert waiting.run("answer", the_ask(waiting)["ask"]["id"], "person").code == 0
    approval, _, _ = waiting.run("permissions", "list").out.partition(" ")
    for short in ("", approval[:3]):
        assert "is too short for an id" in waiting.run("permissions", "revoke", short).err
    assert waiting.run("permissions", "list").out.startswith(approval)
    assert waiting.run("permissions", "revoke", approval[:8]).code == 0
    assert waiting.run("permissions", "list").out == ""
