"""What was allowed because a sandbox would hold it, where there is none."""

import json
from pathlib import Path

import pytest

from coderelay.protocol.asks import Allow, Deny, PermissionAsk
from coderelay.protocol.events import CallAsked
from tests.house import InHouse, house, story
from tests.model_server import bash, proposes, says, script


def without_sandbox(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.json").write_text(json.dumps({"sandbox.enabled": False}))


async def asked(coder: InHouse) -> PermissionAsk:
    (ask,) = await coder.asks()
    assert isinstance(ask, PermissionAsk)
    return ask


@pytest.mark.quick
@story
async def test_what_a_person_allowed_in_a_sandbox_ran_without_one(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash("echo a >> effects")), says("done"))) as coder:
        await coder.create("default")
        await coder.prompt("go")
        ask = await asked(coder)
        if ask.need.sandbox == "none":
            pytest.skip("there is no sandbox on this machine")
        without_sandbox(tmp_path / "home")
        await coder.answer(ask, Allow("session"))
        (again,) = await coder.asks_again()
        assert (again.need.sandbox, (coder.folder / "effects").exists()) == ("none", False)
        await coder.answer(again)
        await coder.ended()
        assert len([each for each in await coder.events() if isinstance(each.event, CallAsked)]) == 1
        assert (coder.folder / "effects").read_text() == "a\n"


@story
@pytest.mark.parametrize("command", ["cat link", "cat l*", "cat sub/x", "cd sub && cat x", "cat < link"])
async def test_a_command_without_a_sandbox_read_outside_through_a_link(tmp_path: Path, command: str) -> None:
    without_sandbox(tmp_path / "home")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("canary")
    async with house(tmp_path, script(proposes(bash(command)), says("done"))) as coder:
        (coder.folder / "link").symlink_to(outside / "x")
        (coder.folder / "sub").symlink_to(outside)
        await coder.create("default")
        await coder.prompt("go")
        ask = await asked(coder)
        assert ask.reason.startswith("a link leads to ")
        assert ask.need.paths == ()
        await coder.answer(ask, Deny())
        await coder.ended()


@pytest.mark.quick
@story
async def test_a_link_inside_of_the_folder_is_read_unasked_without_a_sandbox(tmp_path: Path) -> None:
    without_sandbox(tmp_path / "home")
    async with house(tmp_path, script(proposes(bash("cat link x")), says("done"))) as coder:
        (coder.folder / "x").write_text("plain")
        (coder.folder / "link").symlink_to("x")
        await coder.create("default")
        await coder.prompt("go")
        await coder.ended()
        assert await coder.story() == ["user: go", "bash: ok", "agent: done"]
