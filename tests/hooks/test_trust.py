"""Hooks of a folder: nothing before the person trusts them, and never instead of the person's own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, proposes, read, says, script

CoderOn = Callable[[ModelServerThread], Coder]
EVENTS = ("PreToolUse", "PostToolUse", "Stop", "SubagentStop", "SetUpEnvironment")


def write_config(folder: Path, **keys: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(keys))


def test_a26_x36_a_hostile_folder_runs_nothing_before_it_is_trusted(
    serve: Serve, coder_on: CoderOn, folder: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    hooks = {event: [f"echo {event} >> {ran}"] for event in EVENTS}
    write_config(folder / ".coder", hooks=hooks)
    (folder / "x").write_text("x")
    answers = [proposes(read("x")), says("done")]
    coder = coder_on(serve(script(*answers, *answers)))
    assert coder.run("-p", "go").out == "done\n"
    assert not ran.exists()
    assert coder.run("permissions", "trust", "--yes").code == 0
    assert coder.run("-p", "go").out == "done\n"
    assert ran.read_text().split() == ["SetUpEnvironment", "PreToolUse", "PostToolUse", "Stop"]


def test_a26_x36_a_trusted_folder_adds_hooks_and_takes_none_away(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    write_config(folder / ".coder", hooks={"PreToolUse": ["exit 0"]})
    coder = coder_on(serve(script(proposes(bash("touch made")), says("done"))))
    write_config(coder.home, hooks={"PreToolUse": ["echo mine >&2; exit 2"]})
    assert coder.run("permissions", "trust", "--yes").code == 0
    assert coder.run("-p", "go", "--mode", "yolo").out == "done\n"
    assert not (folder / "made").exists()


WRONG: list[tuple[Any, str]] = [
    ({"PreTooluse": ["x"]}, 'hooks has the name "PreTooluse" that is not PostToolUse, PreToolUse, '),
    ({"Stop": [{"hooks": [{"comand": "x"}]}]}, "unknown key hooks.Stop[0].hooks[0].comand"),
    ({"Stop": [{"hooks": [{"command": "x", "timeout": 0}]}]}, "hooks.Stop[0].hooks[0].timeout must be a number"),
    ({"Stop": [{"matcher": "(", "hooks": []}]}, "hooks.Stop[0] has a `matcher` that is no regular expression"),
    ({"Stop": [3]}, "hooks.Stop[0] must be text that is not empty or an object"),
    ({"Stop": "make"}, "hooks.Stop must be a list"),
]


@pytest.mark.parametrize(("hooks", "said"), WRONG)
def test_a26_what_is_wrong_with_hooks_is_said_before_anything_happens(
    serve: Serve, coder_on: CoderOn, hooks: Any, said: str
) -> None:
    coder = coder_on(serve(script()))
    write_config(coder.home, hooks=hooks)
    ran = coder.run("-p", "go")
    assert (ran.code, said in ran.err) == (1, True), ran.err
