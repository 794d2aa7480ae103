"""bash: how long a command may take, and how much of its output is kept."""

from pathlib import Path

import pytest

from coderelay.protocol.calls import Failed
from coderelay.tools.bash import Bash, BashLimits
from tests.background.background_commands import outcomes
from tests.house import house, story
from tests.model_server import call, proposes, says, script
from tests.tools.toolbox_scene import scene

pytestmark = pytest.mark.quick


def limited(seconds: float = 120, output_bytes: int = 1 << 20) -> Bash:
    return Bash(lambda _: BashLimits(seconds, output_bytes))


@story
async def test_d17_the_usual_time_is_configured_and_a_call_may_ask_for_more(tmp_path: Path) -> None:
    async with scene(tmp_path, tools=[limited(seconds=0.2)]) as here:
        assert await here.refused("bash", command="sleep 60") == "timed out after 0.2 s and was ended"
        assert await here.run("bash", command="sleep 0.3; echo done", timeout=60) == "done"
        assert await here.refused("bash", command="sleep 60", timeout=0) == "timed out after 0.1 s and was ended"


@story
async def test_d17_so_much_output_is_kept_as_is_configured(tmp_path: Path) -> None:
    async with scene(tmp_path, tools=[limited(output_bytes=20)]) as here:
        assert await here.run("bash", command="seq 1 100") == "1\n2\n3\n4\n5\n\n[272 bytes left out]\n98\n99\n100"


@story
async def test_d17_nothing_runs_in_the_background_without_somebody_who_keeps_it(tmp_path: Path) -> None:
    async with scene(tmp_path, tools=[Bash()]) as here:
        refused = await here.refused("bash", command="touch ran", background=True)
        assert refused == "commands cannot run in the background here"
        assert not (tmp_path / "ran").exists()


@story
async def test_d17_the_limits_of_a_session_are_those_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text('{"bash": {"timeout_s": 0.2, "output_bytes": 10}}')
    steps = [proposes(call("bash", command="echo 01 3456789abcd f; exec sleep 60")), says("so")]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.prompt("go")
        await coder.ended()
        (ended,) = await outcomes(coder)
        assert isinstance(ended, Failed)
        first, *output = ended.message.split("\n")
        assert first == "timed out after 0.2 s and was ended"
        assert output in ([], ["01 …", "[7 bytes left out]", "… f"])  # it may not have come so far
