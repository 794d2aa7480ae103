"""In the sandbox, or in none where none works: the same road as any command."""

import json
import random
from pathlib import Path

from coderelay.protocol.background_commands import Gone, StoppedBy
from tests.background.background_commands import HastyHouse, ends, in_background, stop_of, texts
from tests.background.test_stories import CLIENT, SERVER
from tests.coder_process import Coder
from tests.crash.journey import Journey, wait_until
from tests.house import house, story
from tests.model_server import bash, by_history, model_server_thread, proposes, says, script


def confine(home: Path) -> None:
    """In the mode that asks nothing too."""
    home.mkdir(exist_ok=True)
    (home / "config.json").write_text(json.dumps({"sandbox": {"yolo": True}}))


def new_name() -> str:
    """For a command that is told from any other by its arguments."""
    return f"sleep 600.{random.randrange(10**9)}"


def processes_of(command: str) -> list[str]:
    wanted = command.replace(" ", "\0").encode()
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            found += [entry.name] if (entry / "cmdline").read_bytes().strip(b"\0") == wanted else []
        except OSError:
            continue  # it is gone by now
    return found


@story
async def test_d17_x16_a_server_in_the_sandbox_answers_the_next_command(tmp_path: Path) -> None:
    confine(tmp_path / "home")
    left, ended = new_name(), new_name()
    steps = [
        proposes(in_background(SERVER)),
        proposes(bash(CLIENT)),
        proposes(in_background(f"{ended} & {ended}"), in_background(left)),
        proposes(stop_of("2")),
        says("so"),
    ]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert (await texts(coder))[1] == "hello from /there"
        ((number, end),) = await ends(coder)
        assert (number, isinstance(end, StoppedBy)) == ("2", True)
        assert processes_of(ended) == []
        session = coder.session
    assert processes_of(left) == []
    async with house(tmp_path, script()) as coder:
        coder.session = session
        assert dict(await ends(coder)) == {"1": Gone(), "2": end, "3": Gone()}


def test_d17_x16_kill_9_leaves_nothing_in_the_sandbox(tmp_path: Path) -> None:
    confine(tmp_path / "home")
    (tmp_path / "work").mkdir()
    name = new_name()
    waits = proposes(in_background(f"setsid {name} & {name}"), bash("touch begun; sleep 600"))
    with model_server_thread(by_history(lambda _: waits)) as server:
        journey = Journey(Coder(tmp_path / "home", tmp_path / "work", server.base_url), server)
        owner = journey.start("-p", "go")
        begun = tmp_path / "work" / "begun"
        assert wait_until(begun.exists, else_return=lambda: ["never"]) == []
        assert wait_until(lambda: len(processes_of(name)) == 2, else_return=lambda: ["not both"]) == []
        owner.kill()
        assert wait_until(lambda: not processes_of(name), else_return=lambda: processes_of(name)) == []
