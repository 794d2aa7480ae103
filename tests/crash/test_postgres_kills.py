"""The same journeys with the log on PostgreSQL: killed or paused anywhere, carried on by a new process."""

import os
import random
import signal
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.coder_process import Coder
from tests.crash.journey import Journey, job
from tests.log_checker import BrokenPromise, Event
from tests.model_server import ModelServerThread, by_history, model_server_thread
from tests.postgres_server import PrivateServer, read_logs

pytest_plugins = ["tests.postgres"]

ARROWS = [
    "before:session.created:1",
    "after:session.created:1",
    "after:prompt.admitted:1",
    "after:turn.started:1",
    "after:model.answered:2",
    "before:message.added:2",
    "after:message.added:1",
    "before:tool.ran:2",
    "after:tool.ran:3",
    "before:call.ended:4",
    "after:call.ended:6",
    "before:turn.ended:1",
]
RUNS = int(os.environ.get("CODER_SOAK", "1"))


class TeamJourney(Journey):
    def __init__(self, coder: Coder, server: ModelServerThread, url: str) -> None:
        super().__init__(coder, server)
        self._url = url
        coder.env["CODER_DATABASE_URL"] = url

    def go_on(self) -> list[str]:
        return ["--continue"] if read_logs(self._url) else []

    def log(self) -> list[Event]:
        (log,) = read_logs(self._url).values()
        return log

    def check(self) -> None:
        super().check()
        assert not (self.coder.home / "sessions.db").exists()


@pytest.fixture
def journey(tmp_path: Path, database: str) -> Generator[TeamJourney]:
    folder = tmp_path / "work"
    folder.mkdir()
    with model_server_thread(by_history(job)) as server:
        yield TeamJourney(Coder(tmp_path / "home", folder, server.base_url), server, database)


@pytest.mark.parametrize("arrow", ARROWS)
def test_x25_killed_between_two_steps_of_a_turn_and_continued(journey: TeamJourney, arrow: str) -> None:
    assert journey.run("-p", "do first", CODER_CRASH=arrow) == -9
    journey.carry_on()
    journey.check()


@pytest.mark.parametrize("seed", range(RUNS))
def test_x25_killed_at_a_random_moment(journey: TeamJourney, seed: int) -> None:
    journey.kill_at_random_moments(seed, between=(0.0, 0.4))
    journey.carry_on()
    journey.check()


@pytest.mark.parametrize("seed", range(max(2, RUNS // 5)))
def test_x25_the_server_stops_at_a_random_moment(journey: TeamJourney, postgres: PrivateServer, seed: int) -> None:
    """Nobody dies but the server; the turn goes on when it is back."""
    chance = random.Random(seed)
    started = journey.start("-p", "do first")
    for _ in range(2):
        time.sleep(chance.uniform(0.1, 0.6))
        postgres.restart()
    journey.finish(started)
    journey.carry_on()
    journey.check()


@pytest.mark.parametrize("arrow", ["before:turn.started:1", "after:tool.ran:2", "before:message.added:1"])
def test_x25_an_owner_paused_past_its_time_writes_nothing_when_it_wakes(journey: TeamJourney, arrow: str) -> None:
    paused = journey.start("-p", "do first", CODER_PAUSE=arrow)
    journey.wait_until_paused(paused)
    journey.carry_on(CODER_STILL_SECONDS="0.6")
    paused.send(signal.SIGCONT)
    assert journey.finish(paused) == 0
    journey.check()


def test_the_checker_sees_an_append_without_a_comparison(journey: TeamJourney) -> None:
    journey.append_without_comparing()
    with pytest.raises(BrokenPromise, match=r"older epoch|more than once"):
        journey.check()


def test_the_checker_sees_calls_that_run_twice(journey: TeamJourney) -> None:
    journey.run_calls_twice()
    with pytest.raises(BrokenPromise, match=r"call\.started more than once"):
        journey.check()
