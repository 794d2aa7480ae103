"""The process whose agent holds asks is killed while people think and while the batch grows; others carry on."""

import os
import random
import time

import pytest

from tests.blocking.kill_scene import BlockingScene
from tests.coder_process import Started, count_kill

RUNS = int(os.environ.get("CODER_SOAK", "1"))


@pytest.mark.parametrize("seed", range(RUNS))
def test_x24_x25_killed_at_random_while_asks_are_held_and_the_batch_grows(killed: BlockingScene, seed: int) -> None:
    kill_while_held(killed, seed)


def kill_while_held(killed: BlockingScene, seed: int) -> None:
    """Three processes die on one turn of four commands: three at the same time, then one."""
    chance = random.Random(seed)
    prompt = "do first"
    for _ in range(3):
        kill_somewhere(killed, killed.hold(prompt), chance)
        prompt = "" if killed.log() else prompt
        for ask in killed.asks():
            killed.run("answer", "--no-wait", ask, chance.choice(["allow", "allow", "allow", "deny"]))
    killed.finish()
    killed.check()


def kill_somewhere(killed: BlockingScene, started: Started, chance: random.Random) -> None:
    """A moment after some more calls are proposed, or when nothing moves because people are asked."""
    proposals = len(killed.proposed()) + chance.randint(1, 4)
    head, still = 0, 0
    while started.process.poll() is None and len(killed.proposed()) < proposals and still < 10:
        time.sleep(0.01)
        still = still + 1 if killed.asks() and len(killed.log()) == head else 0
        head = len(killed.log())
    time.sleep(chance.uniform(0.0, 0.02))
    if started.kill().code == -9:
        if killed.asks():
            count_kill("with a held ask")
        if 1 <= len({*killed.proposed()}) < 4 and not killed.is_at_rest():
            count_kill("with a batch that grows")
