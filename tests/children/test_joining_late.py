"""Whoever comes in the middle sees everything that is asked, whatever the moment."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from coderelay.client.follow_with_subagents import join_family
from coderelay.protocol.asks import Deny
from coderelay.protocol.commands import Command, Outcome, SendPrompt
from coderelay.protocol.events import BatchOpened, Recorded
from coderelay.protocol.queries import ListAsks, ShowSession
from coderelay.session.children import AGENT
from coderelay.surfaces.terminal.ask_and_prompt_queues import AskQueue, OpenAsk
from tests.background.background_commands import eventually
from tests.children.conversations import child_opened, seen_from, task
from tests.house import InHouse, house, story
from tests.model_server import Answer, bash, proposes, replies, says, script
from tests.patience import PATIENCE


async def first_asked(coder: InHouse) -> OpenAsk:
    """What a terminal that comes now puts to the person first."""
    asks = AskQueue(coder.session)
    head = (await coder.host.get(ShowSession(coder.session))).head
    rows, events = await join_family(coder.host, coder.session, head)
    for row in rows:
        asks.put(row)
    async with aclosing(events) as feed, asyncio.timeout(PATIENCE):
        while asks.first is None:
            each = await anext(feed)
            if isinstance(each, Recorded):
                asks.take(each)
    return asks.first


async def let_go(coder: InHouse, asked: OpenAsk) -> None:
    await seen_from(coder, asked.session).answer(asked.ask, Deny())
    await coder.ended()


@story
async def test_an_ask_of_the_moment_between_looking_and_following_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = asyncio.Event()

    async def late(_: object) -> Answer:
        await go.wait()
        return proposes(bash("./build.sh"))

    async with house(tmp_path, script(proposes(task("w", "w")), replies(late), says("x"), says("done"))) as coder:
        await coder.create("auto-edit")
        await coder.prompt("go")
        child = seen_from(coder, await child_opened(coder))
        real = coder.host.get

        async def get(query: object) -> object:
            found = await real(query)  # pyright: ignore[reportArgumentType, reportUnknownVariableType]: any of them
            if isinstance(query, ListAsks):
                go.set()
                await child.asks()
            return found  # pyright: ignore[reportUnknownVariableType]: as above

        monkeypatch.setattr(coder.host, "get", get)
        asked = await first_asked(coder)
        assert asked.session == child.session
        await let_go(coder, asked)


@story
async def test_who_comes_before_a_child_has_its_task_never_sees_what_it_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, go = asyncio.Event(), asyncio.Event()
    answers = script(proposes(task("build", "w")), proposes(bash("./build.sh")), says("x"), says("done"))
    async with house(tmp_path, answers) as coder:
        real = coder.host.send

        async def send(command: Command) -> Outcome:
            if isinstance(command, SendPrompt) and command.by.via == AGENT.via:
                held.set()
                await go.wait()
            return await real(command)

        monkeypatch.setattr(coder.host, "send", send)
        await coder.create("auto-edit")
        await coder.prompt("go")
        await held.wait()
        child = await child_opened(coder)
        async with asyncio.TaskGroup() as group:
            coming = group.create_task(first_asked(coder))
            record = await coder.host.load(child)
            await eventually(lambda: bool(record.followers))
            go.set()
        asked = coming.result()
        assert (asked.session, asked.task) == (child, "build")
        await let_go(coder, asked)


@story
async def test_an_ask_that_is_both_listed_and_followed_is_put_once(tmp_path: Path) -> None:
    answers = script(proposes(task("build", "w")), proposes(bash("./build.sh")), says("x"), says("done"))
    async with house(tmp_path, answers) as coder:
        await coder.create("auto-edit")
        await coder.prompt("go")
        child = seen_from(coder, await child_opened(coder))
        (ask,) = await child.asks()
        (row,) = await coder.host.get(ListAsks(coder.session))
        asks = AskQueue(coder.session)
        assert asks.put(row) is not None
        opened = await child.until(lambda event: isinstance(event, BatchOpened))
        assert asks.take(opened) is None
        assert len(asks) == 1
        await child.answer(ask, Deny())
        await coder.ended()
