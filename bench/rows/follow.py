"""How far behind another process is: from a commit in one to the event in the other's feed; and, of the words a model
is saying, from when they are said."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator
from statistics import median

from bench.lab import Lab, lab
from bench.percentile import p95
from bench.processes import FOLLOWER
from bench.table import INFORMATIONAL, Row, at_most
from coderelay.app import App
from coderelay.config.loaded_config import load
from coderelay.models.model import Completion, Model, Models, Piece, Request, TextPiece
from coderelay.models.model_card import Card
from coderelay.models.model_registry import ModelRegistry
from coderelay.protocol.asks import By
from coderelay.protocol.commands import ConfigureSession, CreateSession, SendPrompt
from coderelay.protocol.ids import PromptId, SessionId, new_id
from coderelay.protocol.message_content import Text
from coderelay.protocol.usage_and_cost import Usage

COMMITS, WORDS = 100, 200
BETWEEN_COMMITS = (0.01, 0.06)
BETWEEN_WORDS = 0.02
BY = By(who="bench", via="bench")


class Clock:
    """A model that says what time it is, in milliseconds, word by word."""

    id = "bench:clock"
    card = Card()

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        await asyncio.sleep(0.5)  # until this process has found out that another one follows
        for _ in range(WORDS):
            await asyncio.sleep(BETWEEN_WORDS)
            yield TextPiece(f"{time.time() * 1000:.3f} ")
        yield Completion((Text("It is late."),), (), Usage(), "end_turn")


class Clocks(ModelRegistry):
    def open(self, model: str) -> Model:
        return Clock()

    def cheap(self, model: str) -> str:
        return model


class ClockHouse(App):
    def models(self, cwd: str) -> Models:
        return Clocks(self.env)


def measure() -> list[Row]:
    with lab() as here:
        delays = asyncio.run(_followed(here))
    return [
        Row("commit to another process's feed, p50", "ms", median(delays["log"])),
        Row("commit to another process's feed, p95", "ms", p95(delays["log"]), None, at_most(50, "ms")),
        Row("live word to another process's feed, p50", "ms", median(delays["live"]), None, INFORMATIONAL),
        Row("live word to another process's feed, p95", "ms", p95(delays["live"]), None, INFORMATIONAL),
    ]


async def _followed(here: Lab) -> dict[str, list[float]]:
    """Milliseconds for each event (`log`) and word (`live`)."""
    session = SessionId(new_id())
    house = ClockHouse(load({"CODER_HOME": str(here.home)}), {})
    host = house.open()
    await host.send(CreateSession(session=session, cwd=str(here.work), model="bench:clock", by=BY))
    report = here.work / "report"
    follower = here.start([*FOLLOWER, str(report)])
    await asyncio.to_thread(here.wait_for_file, "following")
    for number in range(COMMITS):
        await asyncio.sleep(random.uniform(*BETWEEN_COMMITS))
        await host.send(ConfigureSession(session=session, title=str(number), by=BY))
    await host.send(SendPrompt(session=session, prompt_id=PromptId(new_id()), text="What time is it?", by=BY))
    await asyncio.to_thread(here.wait, *follower)
    await house.close(host)
    lines = [line.split() for line in report.read_text().splitlines()]
    return {kind: [float(ms) for each, ms in lines if each == kind] for kind in ("log", "live")}
