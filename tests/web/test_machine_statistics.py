"""How busy the machine is, for pages that show it."""

import time

from coderelay.surfaces.web import machine_statistics
from tests.house import story


@story
async def test_b35_a_sample_says_how_much_is_in_use() -> None:
    told = await machine_statistics.sample()
    assert told.keys() == {"cpu", "memory", "disk"}
    assert all(0 <= each <= 1 for each in told.values())
    assert told["memory"] > 0
    assert told["disk"] > 0


@story
async def test_b35_the_processors_are_measured_between_samples() -> None:
    await machine_statistics.sample()
    until = time.thread_time() + 0.5
    while time.thread_time() < until:
        pass
    assert (await machine_statistics.sample())["cpu"] > 0, "one processor was busy all the time"
