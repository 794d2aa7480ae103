"""`!` with the log on PostgreSQL: the same story, seen by two processes."""

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from coderelay.app import App
from coderelay.config.loaded_config import Config
from tests.house import house, story
from tests.model_server import script
from tests.shell.scene import shell, written

pytest_plugins = ["tests.postgres"]


@story
async def test_c15_c17_a_command_is_run_and_recorded(tmp_path: Path, database: str) -> None:
    def team(config: Config, env: Mapping[str, str]) -> App:
        return App(replace(config, database_url=database), env)

    async with house(tmp_path, script(), build=team) as one, house(tmp_path, script(), build=team) as two:
        await one.create("plan")
        await two.open(one.session)
        await shell(two, "echo out; echo err >&2; exit 3")
        await one.ended()
        assert await written(one) == await written(two) == [("out", "err", 3)]
