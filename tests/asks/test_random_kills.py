"""Asks under random kills: whoever opens, answers or resumes may die at any moment."""

import json
import os
import random
import time

import pytest

from tests.asks.scene import Scene
from tests.coder_process import Ran, Started

RUNS = int(os.environ.get("CODER_SOAK", "2"))


@pytest.mark.parametrize("seed", range(RUNS))
def test_d03_d24_killed_at_random_moments_each_effect_once_and_in_order(scene: Scene, seed: int) -> None:
    chance = random.Random(seed)
    run_or_kill(scene.start("-p", "do it", "--unattended", "park"), chance)
    for _ in range(40):
        asks = scene.asks()
        if not asks:
            break
        answer_some(scene, asks, chance)
    finish(scene)
    scene.check()


def answer_some(scene: Scene, asks: list[str], chance: random.Random) -> None:
    """One or two processes at once, with the same ask or another; some die."""
    started = [
        scene.start("answer", chance.choice(asks), chance.choice(["allow", "allow", "deny"]))
        for _ in range(chance.randint(1, 2))
    ]
    for each in started:
        ran = run_or_kill(each, chance)
        assert ran.code in (0, 1, 5, -9), ran
        assert "Traceback" not in ran.err, ran.err


def run_or_kill(started: Started, chance: random.Random) -> Ran:
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0.0, 0.25))
        return started.kill()
    return started.wait()


def finish(scene: Scene) -> None:
    """Whatever is left is carried on and answered until the session rests; then one more prompt runs."""
    rows: list[dict[str, object]] = []
    for _ in range(20):
        for ask in scene.asks():
            scene.answer(ask, "allow")
        rows = [json.loads(line) for line in scene.coder.run("sessions", "list", "--json").out.splitlines()]
        if all(not each.get("turn_open") and not each.get("queued") for each in rows):
            break
        scene.coder.run("resume", str(rows[0]["id"]))
    known = ["--continue"] if rows else []
    ran = scene.run("-p", "do last", *known, "--unattended", "allow")
    assert ran.code == 0, ran
