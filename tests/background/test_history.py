"""What the model knows of commands in the background after its history has changed."""

import subprocess
from pathlib import Path

from coderelay.protocol.commands import CompactHistory, UndoTurn
from coderelay.protocol.ids import PromptId
from tests.background.background_commands import HastyHouse, ends, in_background, is_end
from tests.house import ME, InHouse, house, story
from tests.model_server import proposes, says, script

WAITS = "until [ -e more ]; do sleep .01; done"
RUNS = f"<background>background command 1 ({WAITS}) still runs.</background>"
OVER = f"<background>background command 1 ({WAITS}) ended with exit code 0.</background>"


def told_in(coder: InHouse, request: int) -> tuple[bool, bool]:
    """That it runs, and that it is over, anywhere in a request."""
    said = "\n".join(str(each["content"]) for each in coder.server.requests[request]["messages"])
    return RUNS in said, OVER in said


async def sum_up(coder: InHouse, name: str, turns: int) -> None:
    await coder.host.send(CompactHistory(session=coder.session, prompt_id=PromptId(name), by=ME))
    await coder.ended(turns)


@story
async def test_c28_after_a_summary_the_model_is_told_which_still_run_and_of_an_end_only_once(tmp_path: Path) -> None:
    """Symptom it prevents: after each summary, all that ever ended was told again."""
    texts = ["started", "so far", "I see", "it is over", "so far", "I know", "so far", "I know"]
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text('{"compaction": {"keep": 1}}')
    async with house(tmp_path, script(proposes(in_background(WAITS)), *map(says, texts)), build=HastyHouse) as coder:
        await coder.prompt("go")
        await coder.ended()
        await sum_up(coder, "first", 2)
        await coder.prompt("what runs?")
        await coder.ended(3)
        assert told_in(coder, -1) == (True, False)
        (coder.folder / "more").touch()
        await coder.until(is_end)
        await coder.prompt("and now?")
        await coder.ended(4)
        assert told_in(coder, -1) == (True, True)
        await sum_up(coder, "second", 5)
        await coder.prompt("and now?")
        await coder.ended(6)
        assert told_in(coder, -1) == (False, False)
        await sum_up(coder, "third", 7)
        await coder.prompt("and now?")
        await coder.ended(8)
        assert told_in(coder, -1) == (False, False)


@story
async def test_c30_an_undone_turn_leaves_it_running_and_the_model_is_told_that_it_does(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "work", check=True)
    steps = [proposes(in_background(WAITS)), says("started"), says("I see"), says("so")]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        await coder.prompt("go")
        await coder.ended()
        await coder.host.send(UndoTurn(session=coder.session, by=ME))
        assert await ends(coder) == []
        await coder.prompt("what runs?")
        await coder.ended(2)
        assert told_in(coder, -1) == (True, False)
        (coder.folder / "more").touch()
        await coder.until(is_end)
        await coder.prompt("and now?")
        await coder.ended(3)
        assert told_in(coder, -1) == (True, True)
