"""The process of an agent that blocks is killed with the log on PostgreSQL; others carry on."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.blocking.kill_scene import PARK, BlockingScene
from tests.blocking.test_held_kills import kill_while_held
from tests.blocking.test_kills import answer_until_killed, kill_at_random_moments
from tests.coder_process import Coder
from tests.log_checker import Event
from tests.model_server import ModelServerThread, by_history, model_server_thread, says
from tests.postgres_server import read_logs

pytest_plugins = ["tests.postgres"]

PROPOSING = ["before:turn.started:1", "after:agent.asked:1", "before:call.proposed:1", "after:call.proposed:2"]
ANSWERING = ["before:ask.answered:1", "after:ask.answered:1", "after:session.claimed:1", "after:agent.ran:1"]
RUNS = int(os.environ.get("CODER_SOAK", "1"))


class TeamScene(BlockingScene):
    def __init__(self, coder: Coder, server: ModelServerThread, url: str) -> None:
        super().__init__(coder, server)
        self._url = url
        coder.env["CODER_DATABASE_URL"] = url

    def logs(self) -> dict[str, list[Event]]:
        return read_logs(self._url)


@pytest.fixture
def team(tmp_path: Path, database: str) -> Generator[TeamScene]:
    folder = tmp_path / "work"
    folder.mkdir()
    with model_server_thread(by_history(lambda history: says("nobody asks a model"))) as server:
        yield TeamScene(Coder(tmp_path / "home", folder, server.base_url), server, database)


@pytest.mark.parametrize("arrow", PROPOSING)
def test_x24_x25_killed_while_it_proposes(team: TeamScene, arrow: str) -> None:
    assert team.prompt("do first", *PARK, CODER_CRASH=arrow).wait().code == -9
    team.finish()
    team.check()


@pytest.mark.parametrize("arrow", ANSWERING)
def test_x24_x25_killed_while_it_goes_on_with_the_answers(team: TeamScene, arrow: str) -> None:
    answer_until_killed(team, arrow)
    team.finish()
    team.check()


@pytest.mark.parametrize("seed", range(RUNS))
def test_x24_x25_killed_at_random_moments_each_effect_once(team: TeamScene, seed: int) -> None:
    kill_at_random_moments(team, seed)
    assert not (team.coder.home / "sessions.db").exists()


@pytest.mark.parametrize("seed", range(RUNS))
def test_x24_x25_killed_at_random_while_asks_are_held_and_the_batch_grows(team: TeamScene, seed: int) -> None:
    kill_while_held(team, seed)


@pytest.mark.parametrize("arrow", ["after:ask.parked:1", "before:turn.parked:1", "after:turn.parked:1"])
def test_x04_x25_killed_while_it_leaves_a_turn_that_nobody_answers(team: TeamScene, arrow: str) -> None:
    assert team.hold("ask first", "park", CODER_CRASH=arrow).wait().code == -9
    assert len(team.asks()) == 1
    team.finish()
    team.check()
