"""How a task ends: with what was its own, and with everything it began."""

import asyncio
from pathlib import Path

import pytest

from coderelay.protocol.asks import DenyAndStop
from coderelay.protocol.background_commands import StoppedBy
from coderelay.protocol.calls import Failed, Finished, Stopped
from coderelay.protocol.commands import Command, Outcome, StopTurn
from coderelay.protocol.events import CallEnded
from coderelay.protocol.queries import ListAsks, ListBackground, ShowSession
from coderelay.session.children import AGENT
from tests.children.conversations import (
    answer,
    ask_of_child,
    child_opened,
    children_of,
    conversations,
    outcomes,
    seen_from,
    task,
)
from tests.house import InHouse, house, story
from tests.model_server import Answer, bash, by_history, call, proposes, replies, says, script
from tests.patience import PATIENCE

ASKING = conversations(
    parent=[proposes(task("one", "one"), task("two", "two")), says("on I go")],
    children={each: [proposes(bash("./build.sh")), says("THE TASK'S ANSWER"), says("4")] for each in ("one", "two")},
)


async def output_of(coder: InHouse) -> str:
    (ended, *_) = await outcomes(coder)
    assert isinstance(ended, Finished)
    return ended.output


@story
async def test_the_answer_to_another_prompt_is_taken_for_the_tasks(tmp_path: Path) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def late(_: object) -> Answer:
        begun.set()
        await go.wait()
        return says("THE TASK'S ANSWER")

    async with house(tmp_path, script(proposes(task("w", "w")), replies(late), says("4"), says("done"))) as coder:
        await coder.prompt("go")
        child = seen_from(coder, await child_opened(coder))
        await begun.wait()
        await child.prompt("what is 2+2?")
        go.set()
        await coder.ended()
        assert await output_of(coder) == "THE TASK'S ANSWER"
        assert (await coder.host.get(ShowSession(child.session))).last_prompt == "what is 2+2?"


@story
async def test_the_answer_to_another_prompt_is_taken_for_the_tasks_after_a_restart(tmp_path: Path) -> None:
    answers = conversations(
        parent=[proposes(task("w", "w")), says("done")],
        children={"w": [proposes(bash("./build.sh")), says("THE TASK'S ANSWER"), says("4")]},
    )
    async with house(tmp_path, by_history(answers)) as first:
        await first.create("auto-edit")
        await first.prompt("go")
        row = await ask_of_child(first)
    async with house(tmp_path, by_history(answers)) as second:
        second.session = first.session
        child = seen_from(second, row.session)
        await child.prompt("what is 2+2?")
        await child.answer(row.ask.id)
        assert (await child.ended(2)).text == "4"
        await second.open(first.session)
        assert (await second.ended()).text == "done"
        assert await output_of(second) == "THE TASK'S ANSWER"


@story
async def test_a_server_that_a_task_started_runs_on_unseen(tmp_path: Path) -> None:
    answers = conversations(
        parent=[proposes(task("serve", "serve")), says("done")],
        children={"serve": [proposes(call("bash", command="sleep 300", background=True)), says("it runs")]},
    )
    async with house(tmp_path, by_history(answers)) as coder:
        await coder.prompt("go")
        await coder.ended()
        (child,) = await children_of(coder)
        (row,) = await coder.host.get(ListBackground(child.id))
        assert row.end == StoppedBy(AGENT)
        told = "\n[background commands stopped when the task ended: 1 (sleep 300)]"
        assert await output_of(coder) == f"it runs{told}"


@story
async def test_a_server_of_a_task_runs_on_when_its_parent_is_stopped(tmp_path: Path) -> None:
    waits = proposes(bash("sleep 300"))
    answers = conversations(
        parent=[proposes(task("serve", "serve"))],
        children={"serve": [proposes(call("bash", command="sleep 300", background=True)), waits]},
    )
    async with house(tmp_path, by_history(answers)) as coder:
        await coder.prompt("go")
        child = seen_from(coder, await child_opened(coder))
        await child.until(lambda event: isinstance(event, CallEnded))
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        (row,) = await coder.host.get(ListBackground(child.session))
        assert row.end == StoppedBy(AGENT)


@story
async def test_stop_said_to_what_a_child_asks_leaves_its_parent_at_work(tmp_path: Path) -> None:
    """Whoever says stop means the turn, with everything that goes on in it."""
    async with house(tmp_path, by_history(ASKING)) as coder:
        await coder.create("auto-edit")
        await coder.prompt("go")
        row, _ = await ask_of_child(coder, 1), await ask_of_child(coder, 2)
        await answer(coder, row, DenyAndStop())
        assert (await coder.ended()).ending == "stopped"
        assert await outcomes(coder) == [Stopped(started=True)] * 2
        assert [each.phase for each in await children_of(coder)] == ["stopped"] * 2
        assert await coder.host.get(ListAsks()) == []


@story
async def test_stop_said_to_a_child_that_works_for_nobody_any_more(tmp_path: Path) -> None:
    """Its parent's task is over, and the parent at other work: that goes on."""
    answers = conversations(
        parent=[proposes(task("w", "w")), says("done"), says("and more")],
        children={"w": [says("worked"), proposes(bash("./build.sh"))]},
    )
    async with house(tmp_path, by_history(answers)) as coder:
        await coder.create("auto-edit")
        await coder.prompt("go")
        child = seen_from(coder, await child_opened(coder))
        await coder.ended()
        await child.prompt("build")
        (ask,) = await child.asks()
        await child.answer(ask, DenyAndStop())
        assert (await child.ended(2)).ending == "stopped"
        await coder.prompt("more")
        assert (await coder.ended(2)).ending == "done"


@story
async def test_a_message_opens_sessions_without_end(tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(10)]
    answers = conversations(
        parent=[proposes(*(task(each, each) for each in names)), proposes(task("t8", "t8")), says("done")],
        children={each: [says("ok")] for each in names},
    )
    async with house(tmp_path, by_history(answers)) as coder:
        await coder.prompt("go")
        await coder.ended()
        ended = await outcomes(coder)
        told = "8 tasks are running, which is the limit; start this one when another has ended"
        assert [type(each) for each in ended] == [Finished] * 8 + [Failed] * 2 + [Finished]
        assert ended[8:10] == [Failed(told, summary=told)] * 2
        assert [each.title for each in await children_of(coder)] == [*names[:8], "t8"]


@story
async def test_children_are_stopped_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them may take its time."""
    async with house(tmp_path, by_history(ASKING)) as first:
        await first.create("auto-edit")
        await first.prompt("go")
        await ask_of_child(first, 1)
        await ask_of_child(first, 2)
    async with house(tmp_path, by_history(ASKING)) as second:
        second.session = first.session
        real, both = second.host.send, asyncio.Barrier(2)

        async def send(command: Command) -> Outcome:
            if isinstance(command, StopTurn) and command.by == AGENT:
                await both.wait()
            return await real(command)

        monkeypatch.setattr(second.host, "send", send)
        await second.stop()
        async with asyncio.timeout(PATIENCE):
            assert (await second.ended()).ending == "stopped"
