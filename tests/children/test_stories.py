"""A task given to an agent of its own, from the proposal to the answer."""

import asyncio
from pathlib import Path

import pytest

from coderelay.app import App
from coderelay.config.loaded_config import load
from coderelay.protocol.asks import Allow, BudgetAsk, Deny
from coderelay.protocol.calls import Denied, Failed, Finished, Stopped, Unknown
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import AskOpened, CallStarted, SessionConfigured, TurnStarted
from coderelay.protocol.queries import ListAsks, ListSessions, ShowSession
from coderelay.protocol.session_setting_values import Mode
from coderelay.public import Coder
from tests.background.background_commands import eventually
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
from tests.config.config_files import Places
from tests.host.test_undo import files, repository, undo
from tests.house import ME, InHouse, house, story
from tests.model_server import (
    Answer,
    bash,
    by_history,
    call,
    hangs,
    proposes,
    read,
    replies,
    says,
    script,
    write,
)

LOOK = "What is in a.txt?"


@pytest.mark.quick
@story
async def test_a_task_is_done_in_a_session_of_its_own(tmp_path: Path) -> None:
    script = conversations(
        parent=[proposes(task("look", LOOK)), says("it says hello")],
        children={LOOK: [proposes(read("a.txt")), says("a.txt says hello")]},
    )
    async with house(tmp_path, by_history(script)) as coder:
        (coder.folder / "a.txt").write_text("hello\n")
        await coder.prompt("go")
        assert (await coder.ended()).text == "it says hello"
        (child,) = await children_of(coder)
        assert (child.title, child.phase, child.parent, child.cwd) == (
            "look",
            "done",
            coder.session,
            str(coder.folder),
        )
        tokens = f"{child.usage.input_tokens + child.usage.output_tokens:,} tokens"
        assert await outcomes(coder) == [Finished("a.txt says hello", summary=f"2 steps, {tokens}")]
        assert await seen_from(coder, child.id).story() == [f"user: {LOOK}", "read: ok", "agent: a.txt says hello"]
        assert [each.id for each in await coder.host.get(ListSessions())] == [coder.session]


@story
async def test_what_its_model_is_told(tmp_path: Path) -> None:
    """Whom it works for, nothing of its parent's conversation, and no tool that it cannot use."""
    script = conversations(parent=[proposes(task("look", LOOK)), says("done")], children={LOOK: [says("nothing")]})
    async with house(tmp_path, by_history(script)) as coder:
        await coder.create("default")
        await coder.prompt("a secret plan")
        await coder.ended()
        parent, child, _ = coder.server.requests
        assert "Another agent gave you this task" in child["messages"][0]["content"]
        assert "Another agent gave you this task" not in parent["messages"][0]["content"]
        assert "secret plan" not in str(child)
        assert "<mode>read-only: look and think only." in str(child)
        names = [[each["function"]["name"] for each in request["tools"]] for request in (parent, child)]
        assert [name for name in names[0] if name not in names[1]] == ["plan_exit", "task"]


@pytest.mark.parametrize(
    ("mode", "of_child", "ends"),
    [
        ("plan", "plan", [Denied("write changes files (plan mode)"), Finished]),
        ("default", "plan", [Denied("write changes files (plan mode)"), Finished]),
        ("auto-edit", "auto-edit", [Finished, Finished]),
        ("yolo", "yolo", [Finished, Finished]),
    ],
)
def test_a_child_may_do_no_more_than_its_parent(
    tmp_path: Path, mode: Mode, of_child: Mode, ends: list[object]
) -> None:
    """Where the parent would have to ask, the child only reads; nobody is asked about its plan."""

    @story
    async def tell() -> None:
        script = conversations(
            parent=[proposes(task("work", "work")), says("done")],
            children={"work": [proposes(write("out.txt", "x"), bash("ls")), says("worked")]},
        )
        async with house(tmp_path, by_history(script)) as coder:
            await coder.create(mode)
            await coder.prompt("go")
            child = seen_from(coder, await child_opened(coder))
            assert (await child.ended()).text == "worked"
            ended = await outcomes(child)
            assert [each if isinstance(each, Denied) else type(each) for each in ended] == ends
            assert (await coder.host.get(ShowSession(child.session))).mode == of_child
            assert (coder.folder / "out.txt").exists() == (ends[0] is Finished)

    tell()


@story
async def test_a_parent_that_may_do_less_now_takes_it_from_its_child_too(tmp_path: Path) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def late(_: object) -> Answer:
        begun.set()
        await go.wait()
        return proposes(write("out.txt", "x"))

    answers = script(proposes(task("work", "work")), replies(late), says("no"), says("done"))
    async with house(tmp_path, answers) as coder:
        await coder.prompt("go")
        child = seen_from(coder, await child_opened(coder))
        await begun.wait()
        await coder.host.send(ConfigureSession(session=coder.session, mode="default", by=ME))
        await coder.host.send(ConfigureSession(session=coder.session, mode="yolo", by=ME))
        go.set()
        await coder.ended()
        assert await outcomes(child) == [Denied("write changes files (plan mode)")]
        changed = [each.event for each in await child.events() if isinstance(each.event, SessionConfigured)]
        assert changed == [SessionConfigured(mode="plan", by=ME)]


@story
async def test_tasks_of_one_message_are_done_at_the_same_time(tmp_path: Path) -> None:
    """Each waits for what the other does."""
    meets = {each: f"touch {each}; until [ -e {other} ]; do sleep .01; done" for each, other in ("ab", "ba")}
    script = conversations(
        parent=[proposes(task("first", "a"), task("second", "b")), says("both")],
        children={each: [proposes(bash(command)), says(f"met in {each}")] for each, command in meets.items()},
    )
    async with house(tmp_path, by_history(script)) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert [each.output for each in await outcomes(coder) if isinstance(each, Finished)] == [
            "met in a",
            "met in b",
        ]
        assert [each.title for each in await children_of(coder)] == ["first", "second"]
        kinds = [type(each.event) for each in await coder.events()]
        first = kinds.index(CallStarted)
        assert kinds[first : first + 2] == [CallStarted, CallStarted]


@story
async def test_a_child_has_no_children(tmp_path: Path) -> None:
    script = conversations(
        parent=[proposes(task("deep", "deep")), says("done")],
        children={"deep": [proposes(task("deeper", "deeper")), says("alone")]},
    )
    async with house(tmp_path, by_history(script)) as coder:
        await coder.prompt("go")
        child = seen_from(coder, await child_opened(coder))
        await coder.ended()
        told = "you work for another agent already, and cannot give tasks to more of them; do it yourself"
        assert await outcomes(child) == [Failed(told)]
        assert await children_of(child) == []


@story
async def test_a_task_without_a_prompt_is_no_task(tmp_path: Path) -> None:
    answers = conversations(parent=[proposes(task("look", " ")), proposes(call("task", prompt="x")), says("done")])
    async with house(tmp_path, by_history(answers)) as coder:
        await coder.prompt("go")
        await coder.ended()
        empty, missing = await outcomes(coder)
        assert empty == Failed("a task needs a description and a prompt")
        assert isinstance(missing, Failed)
        assert missing.message.startswith("bad arguments for task: ")
        assert await children_of(coder) == []


@story
async def test_a_long_answer_is_cut_and_says_so(tmp_path: Path) -> None:
    script = conversations(
        parent=[proposes(task("long", "long")), says("done")], children={"long": [says("x" * 30_010)]}
    )
    async with house(tmp_path, by_history(script)) as coder:
        await coder.prompt("go")
        await coder.ended()
        (ended,) = await outcomes(coder)
        assert isinstance(ended, Finished)
        assert ended.output == "x" * 30_000 + "\n[cut: 10 more characters are in the session of the task]"


@story
async def test_a_child_that_fails_ends_the_call_as_failed(tmp_path: Path) -> None:
    """At its step limit, which is its parent's."""
    script = conversations(
        parent=[proposes(task("loop", "loop")), says("done")],
        children={"loop": [proposes(bash(f"echo {n}"), text=f"step {n}") for n in range(9)]},
    )
    async with house(tmp_path, by_history(script)) as coder:
        Places(tmp_path).write({"max_steps": 3})
        await coder.prompt("go")
        await coder.ended()
        (child,) = await children_of(coder)
        tokens = f"{child.usage.input_tokens + child.usage.output_tokens:,}"
        message = f"the task did not succeed: step limit reached (3 steps, {tokens} tokens)"
        message += "\nWhat it said last:\nstep 2"
        assert await outcomes(coder) == [Failed(message, summary=message.partition("\n")[0])]


@pytest.mark.quick
@story
async def test_stopping_the_parent_stops_the_child_before_the_turn_ends(tmp_path: Path) -> None:
    script = conversations(
        parent=[proposes(task("slow", "slow"))],
        children={"slow": [proposes(bash("touch begun; sleep 600; touch ended"))]},
    )
    async with house(tmp_path, by_history(script)) as coder:
        await coder.prompt("go")
        child = seen_from(coder, await child_opened(coder))
        await eventually((coder.folder / "begun").exists)
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        assert await outcomes(coder) == [Stopped(started=True)]
        assert (await coder.host.get(ShowSession(child.session))).phase == "stopped"
        assert await outcomes(child) == [Stopped(started=True)]


@story
async def test_stopping_the_child_leaves_the_parent_at_work(tmp_path: Path) -> None:
    script = conversations(
        parent=[proposes(task("slow", "slow")), says("without it, then")],
        children={"slow": [hangs(says("I am looking"), after_pieces=2)]},
    )
    async with house(tmp_path, by_history(script)) as coder:
        await coder.prompt("go")
        child = seen_from(coder, await child_opened(coder))
        await child.until(lambda event: isinstance(event, TurnStarted))
        await child.stop()
        assert (await coder.ended()).text == "without it, then"
        (ended,) = await outcomes(coder)
        assert isinstance(ended, Failed)
        assert ended.message.startswith("the task did not succeed: it was stopped (")


@story
async def test_deleting_the_parent_deletes_its_children(tmp_path: Path) -> None:
    script = conversations(
        parent=[proposes(task("slow", "slow"))], children={"slow": [hangs(says("looking"), after_pieces=0)]}
    )
    async with house(tmp_path, by_history(script)) as coder:
        await coder.prompt("go")
        child = await child_opened(coder)
        await coder.delete()
        for session in (coder.session, child):
            with pytest.raises(UnknownSession):
                await coder.host.get(ShowSession(session))


@story
async def test_deleting_the_child_ends_the_call(tmp_path: Path) -> None:
    script = conversations(
        parent=[proposes(task("slow", "slow")), says("gone")],
        children={"slow": [hangs(says("looking"), after_pieces=0)]},
    )
    async with house(tmp_path, by_history(script)) as coder:
        await coder.prompt("go")
        await seen_from(coder, await child_opened(coder)).delete()
        assert (await coder.ended()).text == "gone"
        told = "the session of this task was deleted before it ended"
        assert await outcomes(coder) == [Failed(told, summary=told)]
        assert await children_of(coder) == []


ASKING = conversations(
    parent=[proposes(task("build", "build")), says("done")],
    children={"build": [proposes(bash("touch out.txt && ./build.sh")), says("built")]},
)


@pytest.mark.quick
@story
async def test_what_a_child_asks_is_seen_at_its_parent_and_answered_from_another_process(tmp_path: Path) -> None:
    async with house(tmp_path, by_history(ASKING)) as coder, house(tmp_path, by_history(ASKING)) as other:
        (coder.folder / "build.sh").write_text("#!/bin/sh\necho ok\n")
        await coder.create("auto-edit")
        await coder.prompt("make it")
        row = await ask_of_child(coder)
        assert (row.title, row.parent, row.parent_title) == ("build", coder.session, "make it")
        assert await other.host.get(ListAsks()) == [row]
        assert (await coder.host.get(ShowSession(row.session))).owner is None
        await answer(other, row, Deny("not today"))
        assert (await coder.ended()).text == "done"
        child = seen_from(coder, row.session)
        assert await outcomes(child) == [Denied("not today")]
        assert len(other.server.requests) == 0  # the process that has the parent went on with the child


@story
async def test_what_was_approved_for_the_parents_session_needs_no_asking_in_the_child(tmp_path: Path) -> None:
    answers = conversations(
        parent=[proposes(bash("./build.sh")), proposes(task("build", "build")), says("done")],
        children={"build": [proposes(bash("./build.sh")), says("built")]},
    )
    async with house(tmp_path, by_history(answers)) as coder:
        (coder.folder / "build.sh").write_text("#!/bin/sh\n")
        (coder.folder / "build.sh").chmod(0o755)
        await coder.create("auto-edit")
        await coder.prompt("make it")
        (ask,) = await coder.asks()
        await coder.answer(ask, Allow("session"))
        assert (await coder.ended()).text == "done"
        child = seen_from(coder, await child_opened(coder))
        assert [type(each) for each in await outcomes(child)] == [Finished]


@story
async def test_a_script_is_told_what_a_child_asks(tmp_path: Path) -> None:
    async with house(tmp_path, by_history(ASKING)) as coder:
        rooms = App(load({"CODER_HOME": str(tmp_path / "home")}), {})
        script = Coder(coder.host, rooms, "script")
        await coder.create("auto-edit")
        await coder.prompt("make it")
        row = await script.next_ask(coder.session)
        assert row is not None
        assert (row.title, row.parent) == ("build", coder.session)
        await script.answer(row, "deny")
        assert await script.next_ask(coder.session) is None
        assert (await coder.ended()).text == "done"


@story
async def test_stopping_a_parent_whose_child_waits_closes_the_ask(tmp_path: Path) -> None:
    async with house(tmp_path, by_history(ASKING)) as coder:
        await coder.create("auto-edit")
        await coder.prompt("make it")
        await ask_of_child(coder)
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        assert await coder.host.get(ListAsks()) == []


@story
async def test_a_child_waits_on_when_its_parents_process_leaves_and_ends_when_the_parent_is_stopped(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, by_history(ASKING)) as first:
        await first.create("auto-edit")
        await first.prompt("make it")
        row = await ask_of_child(first)
    async with house(tmp_path, by_history(ASKING)) as second:
        second.session = first.session
        assert await second.host.get(ListAsks(first.session)) == [row]
        await second.stop()
        assert (await second.ended()).ending == "stopped"
        assert await outcomes(second) == [Unknown()]
        assert await second.host.get(ListAsks()) == []
        assert (await seen_from(second, row.session).ended()).ending == "stopped"


@story
async def test_undo_of_the_parent_takes_back_what_the_child_did(tmp_path: Path) -> None:
    script = conversations(
        parent=[proposes(task("work", "work")), says("done")],
        children={"work": [proposes(write("new.txt", "new\n"), bash("echo changed > a")), says("worked")]},
    )
    folder = repository(tmp_path)
    before = files(folder)
    async with house(tmp_path, by_history(script)) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert files(folder) != before
        await undo(coder)
        assert files(folder) == before


LONG = "word " * 8_000  # makes a request dear beyond all others


def costly(root: Path) -> None:
    card = {"price": {"input": 10_000, "output": 0}}
    Places(root).write({"budget": {"session": 80.0}, "providers": {"openai": {"models": {"scripted": card}}}})


async def budget_ask(coder: InHouse) -> BudgetAsk:
    event = (await coder.until(lambda event: isinstance(event, AskOpened))).event
    assert isinstance(event, AskOpened)
    assert isinstance(event.ask, BudgetAsk)
    return event.ask


async def cost(coder: InHouse) -> float:
    return (await coder.host.get(ShowSession(coder.session))).cost or 0.0


@story
async def test_what_a_child_costs_counts_for_its_parents_budget(tmp_path: Path) -> None:
    costly(tmp_path)
    script = conversations(
        parent=[proposes(task("dear", f"{LONG}\ndear")), says("done")], children={"dear": [says("that was dear")]}
    )
    async with house(tmp_path, by_history(script)) as coder:
        await coder.prompt("go")
        ask = await budget_ask(coder)
        child = seen_from(coder, await child_opened(coder))
        assert ask.spent == await cost(coder) + await cost(child)
        assert await cost(coder) < 80.0
        await coder.answer(ask)
        assert (await coder.ended()).ending == "done"


@story
async def test_a_child_asks_for_its_parents_budget_and_both_may_go_on(tmp_path: Path) -> None:
    costly(tmp_path)
    script = conversations(parent=[proposes(task("dear", "dear")), says("done")], children={"dear": [says("cheap")]})
    async with house(tmp_path, by_history(script)) as coder:
        await coder.prompt(f"{LONG}\ngo")
        child = seen_from(coder, await child_opened(coder))
        ask = await budget_ask(child)
        assert ask.spent == await cost(coder)
        await child.answer(ask)
        assert (await coder.ended()).ending == "done"
        assert [each.event for each in await coder.events() if isinstance(each.event, AskOpened)] == []
