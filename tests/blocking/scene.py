"""Houses with an agent that blocks."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from coderelay.agents.agent import Agent
from coderelay.app import App
from coderelay.protocol.asks import Ask
from coderelay.protocol.events import AnyEvent, asks_in
from coderelay.testing.scripted_external_agent import BlockingAgent, Script, Step
from tests.house import InHouse, house
from tests.model_server import says, script


def steps(*of: Step) -> Script:
    return lambda prompt: of


@asynccontextmanager
async def blocking_house(
    root: Path, job: Script, *, has_own_session_ids: bool = False, verbatim: bool = False
) -> AsyncGenerator[InHouse, None]:
    class Built(App):
        def agents(self) -> list[Agent]:
            return [*super().agents(), BlockingAgent(job, has_own_session_ids=has_own_session_ids, verbatim=verbatim)]

    async with house(root, script(says("nobody asks a model")), build=Built) as coder:
        yield coder


async def begin(coder: InHouse, text: str = "go") -> None:
    await coder.create("default", agent="blocking")
    await coder.prompt(text)


async def held(coder: InHouse, count: int = 1) -> list[Ask]:
    """Wait until so many asks were opened."""
    asks: list[Ask] = []

    def enough(event: AnyEvent) -> bool:
        asks.extend(asks_in(event))
        return len(asks) >= count

    await coder.until(enough)
    return asks


async def of_kind(coder: InHouse, *kinds: type) -> list[object]:
    return [each.event for each in await coder.events() if isinstance(each.event, kinds)]


def effects(coder: InHouse) -> list[str]:
    path = coder.folder / "effects"
    return path.read_text().split() if path.exists() else []


def effect(word: str) -> str:
    return f"echo {word} >> effects"
