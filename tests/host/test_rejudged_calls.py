"""A call that was judged before and starts now is judged again: stricter wins, and nothing is asked twice."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from coderelay.protocol.asks import Allow, Ask, Deny
from coderelay.protocol.calls import Denied
from coderelay.protocol.commands import ConfigureSession, RevokeApproval
from coderelay.protocol.events import AnyEvent, BatchOpened, CallAsked, CallEnded, CallStarted
from coderelay.protocol.ids import APPROVALS
from coderelay.protocol.session_setting_values import Mode
from tests.house import ME, InHouse, house, story
from tests.model_server import Call, bash, proposes, read, says, script, write
from tests.outcomes import in_english


async def running_its_first_call(coder: InHouse, mode: Mode) -> None:
    """The first call waits at the gate."""
    os.mkfifo(coder.folder / "gate")
    await coder.create(mode)
    await coder.prompt("go")
    await coder.until(lambda event: isinstance(event, CallStarted))


async def open_gate(coder: InHouse) -> None:
    await asyncio.to_thread((coder.folder / "gate").write_text, "")


def first_waits(*others: Call) -> list[Call]:
    return [bash("cat gate; echo a >> effects"), *others]


async def configure(coder: InHouse, mode: Mode) -> None:
    await coder.host.send(ConfigureSession(session=coder.session, mode=mode, by=ME))


async def ask_about_the_gate(coder: InHouse) -> Ask:
    def is_it(event: AnyEvent) -> bool:
        return isinstance(event, BatchOpened) and len(event.judged) == 2

    batch = (await coder.until(is_it)).event
    assert isinstance(batch, BatchOpened)
    assert [each.reason for each in batch.judged] == ["it writes to effects", "approved before"]
    (ask,) = [each.ask for each in batch.judged if each.ask is not None]
    return ask


def effects(coder: InHouse) -> list[str]:
    path = coder.folder / "effects"
    return path.read_text().split() if path.exists() else []


@story
async def test_c06_what_a_stricter_mode_denies_has_no_effect(tmp_path: Path) -> None:
    calls = first_waits(bash("echo b >> effects"), write("c", "x"), bash("ls"))
    async with house(tmp_path, script(proposes(*calls), says("done"))) as coder:
        await running_its_first_call(coder, "yolo")
        await configure(coder, "plan")
        await open_gate(coder)
        await coder.until(lambda event: isinstance(event, CallEnded) and isinstance(event.outcome, Denied))
        (plan,) = await coder.plan_asks()
        await coder.answer(plan, Deny())
        assert await coder.story() == [
            "user: go",
            "bash: ok",
            "bash: denied",
            "write: denied",
            "bash: ok",
            "agent: done",
        ]
        ends = [in_english(each.event.outcome) for each in await coder.events() if isinstance(each.event, CallEnded)]
        assert ends[1:3] == [
            Denied("it writes to effects; plan mode"),
            Denied("write changes files (plan mode)"),
        ]
        assert (effects(coder), (coder.folder / "c").exists()) == (["a"], False)


@story
async def test_d11_what_must_be_asked_now_is_asked_before_it_starts(tmp_path: Path) -> None:
    calls = first_waits(bash("echo b >> effects"), bash("echo c >> effects"))
    async with house(tmp_path, script(proposes(*calls), says("done"))) as coder:
        await running_its_first_call(coder, "yolo")
        await configure(coder, "default")
        await open_gate(coder)
        (ask,) = await coder.asks_again()
        assert (ask.reason, effects(coder)) == ("it writes to effects", ["a"])
        await configure(coder, "yolo")
        await coder.answer(ask)
        await coder.ended()
        assert effects(coder) == ["a", "b", "c"]
        assert await coder.story() == ["user: go", "bash: ok", "bash: ok", "bash: ok", "agent: done"]


@story
async def test_d20_what_a_person_allowed_is_not_asked_again(tmp_path: Path) -> None:
    calls = proposes(bash("echo a >> effects"), bash("echo b >> effects"))
    async with house(tmp_path, script(calls, says("done"))) as coder:
        await coder.create("default")
        await coder.prompt("go")
        for ask in await coder.asks():
            await coder.answer(ask)
        await coder.ended()
        assert effects(coder) == ["a", "b"]
        assert [each for each in await coder.events() if isinstance(each.event, CallAsked)] == []


@story
async def test_a_rule_that_denies_wins_over_an_answer_given_before(tmp_path: Path) -> None:
    calls = proposes(bash("echo a >> effects"), bash("touch b"))
    async with house(tmp_path, script(calls, says("done"))) as coder:
        await coder.create("default")
        await coder.prompt("go")
        first, second = await coder.asks()
        await coder.answer(first)
        (tmp_path / "home" / "config.json").write_text(json.dumps({"permissions.deny": ["bash(echo)"]}))
        await coder.answer(second)
        await coder.ended()
        ends = [in_english(each.event.outcome) for each in await coder.events() if isinstance(each.event, CallEnded)]
        assert ends[0] == Denied("denied by the rule echo")
        assert (effects(coder), (coder.folder / "b").exists()) == ([], True)


@story
async def test_an_approval_that_was_revoked_counts_no_more(tmp_path: Path) -> None:
    command = "echo b >> effects"
    answers = script(proposes(bash(command)), says("once"), proposes(*first_waits(bash(command))), says("done"))
    async with house(tmp_path, answers) as coder:
        await coder.create("default")
        await coder.prompt("first")
        (ask,) = await coder.asks()
        await coder.answer(ask, Allow("person"))
        await coder.ended()
        os.mkfifo(coder.folder / "gate")
        await coder.prompt("second")
        await coder.answer(await ask_about_the_gate(coder))
        await coder.host.send(RevokeApproval(session=APPROVALS, approval=ask.id, by=ME))
        await open_gate(coder)
        (again,) = await coder.asks_again()
        assert (again.need.command, effects(coder)) == (command, ["b", "a"])
        await coder.answer(again, Deny())
        await coder.ended(2)
        assert effects(coder) == ["b", "a"]


@pytest.mark.quick
@story
async def test_reads_that_run_together_are_looked_at_one_by_one(tmp_path: Path) -> None:
    calls = first_waits(read("x"), read("hidden"), read("y"))
    async with house(tmp_path, script(proposes(*calls), says("done"))) as coder:
        for name in ("x", "hidden", "y"):
            (coder.folder / name).write_text(name)
        await running_its_first_call(coder, "yolo")
        (tmp_path / "home" / "config.json").write_text(json.dumps({"permissions.deny": ["read(hidden)"]}))
        await open_gate(coder)
        await coder.ended()
        assert await coder.story() == [
            "user: go",
            "bash: ok",
            "read: ok",
            "read: denied",
            "read: ok",
            "agent: done",
        ]


@pytest.mark.quick
@story
async def test_a_link_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(read("link"), read("plain")), says("done"))) as coder:
        (coder.folder / ".env").write_text("KEY=1")
        (coder.folder / "plain").write_text("x")
        (coder.folder / "link").symlink_to(".env")
        await coder.create("default")
        await coder.prompt("go")
        (ask,) = await coder.asks()
        assert getattr(ask, "reason", "") == ".env may hold secrets"
        await coder.answer(ask, Deny())
        await coder.ended()
        assert await coder.story() == ["user: go", "read: denied", "read: ok", "agent: done"]
