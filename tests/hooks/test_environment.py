"""SetUpEnvironment: variables for the commands of a session, once."""

import json
from pathlib import Path

from coderelay.protocol.events import EnvironmentSetUp
from tests.hooks.hook_scripts import configure, hook, told
from tests.house import InHouse, house, story
from tests.model_server import bash, proposes, says, script

SHOW = 'echo "$VIRTUAL_ENV|$STAGE|$MY_TOKEN|$HOME_PAGE|$LD_PRELOAD"'
GIVE_VENV = """echo '{"env": {"VIRTUAL_ENV": "/venv"}}'"""


async def set_up(coder: InHouse) -> list[dict[str, str]]:
    events = [each.event for each in await coder.events()]
    return [each.variables for each in events if isinstance(each, EnvironmentSetUp)]


@story
async def test_a26_commands_in_a_sandbox_have_it_too(tmp_path: Path) -> None:
    configure(tmp_path, hook("SetUpEnvironment", GIVE_VENV), **{"sandbox.yolo": True})
    async with house(tmp_path, script(proposes(bash(SHOW)), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert told(coder, 1) == ["/venv||||"]


@story
async def test_a26_commands_have_what_the_hook_sets_and_may_set(tmp_path: Path) -> None:
    wanted = {
        "VIRTUAL_ENV": "/venv",
        "STAGE": "test",
        "MY_TOKEN": "hunter2",
        "HOME_PAGE": "https://me:secret@example.org",
        "LD_PRELOAD": "/evil.so",
    }
    runs = tmp_path / "runs"
    command = f"echo run >> {runs}; echo '{json.dumps({'env': wanted})}'"
    configure(tmp_path, hook("SetUpEnvironment", command, variables=["STAGE", "MY_TOKEN", "HOME_PAGE"]))
    answers = script(proposes(bash(SHOW)), says("done"), proposes(bash(SHOW)), says("done"))
    async with house(tmp_path, answers) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert told(coder, 1) == ["/venv|test|||"]
        await coder.prompt("again")
        await coder.ended(2)
        assert told(coder, 3) == ["/venv|test|||"]
        assert await set_up(coder) == [{"VIRTUAL_ENV": "/venv", "STAGE": "test"}]
        assert runs.read_text() == "run\n"


@story
async def test_a26_another_process_has_them_from_the_log(tmp_path: Path) -> None:
    configure(tmp_path, hook("SetUpEnvironment", GIVE_VENV))
    async with house(tmp_path, script(says("hello"))) as coder:
        session = await coder.create()
        await coder.prompt("go")
        await coder.ended()
    configure(tmp_path, {})
    async with house(tmp_path, script(proposes(bash(SHOW)), says("done"))) as coder:
        coder.session = session
        await coder.prompt("again")
        await coder.ended(2)
        assert told(coder, 1) == ["/venv||||"]


@story
async def test_a26_a_plain_text_is_told_to_the_model(tmp_path: Path) -> None:
    configure(tmp_path, hook("SetUpEnvironment", "echo The database is on port 5433."))
    async with house(tmp_path, script(says("hello"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        messages = coder.server.requests[0]["messages"]
        assert "<hook>The database is on port 5433.</hook>" in messages[-1]["content"]


@story
async def test_a26_one_that_fails_is_tried_again_with_the_next_turn(tmp_path: Path) -> None:
    configure(tmp_path, hook("SetUpEnvironment", 'test -e ready && echo \'{"env": {"VIRTUAL_ENV": "/v"}}\''))
    async with house(tmp_path, script(says("one"), says("two"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert await set_up(coder) == []
        (coder.folder / "ready").touch()
        await coder.prompt("again")
        await coder.ended(2)
        assert await set_up(coder) == [{"VIRTUAL_ENV": "/v"}]
