"""Events over the real long connection, from the fake platform: each one acts once, and only if it may."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from coderelay.protocol.errors import StoreFailed
from coderelay.surfaces.feishu import receiver
from coderelay.surfaces.feishu.incoming_event_types import CardClick, ChatMessage, ClickAnswer
from coderelay.surfaces.feishu.receiver import AppIdentity, Receiver
from coderelay.testing.feishu_server import FakeFeishu, ShownMessage
from tests.feishu.platform_bot import RecordingChats, aside, key_values_in, platform_bot, settled
from tests.house import story

DAY_MS = 24 * 3600 * 1000


@story
async def test_messages_of_a_chat_arrive_in_order_and_are_acknowledged_before_they_are_carried_out(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        bot.chats.gate.clear()
        chat = feishu.person("ou_1").chat
        for text in ("one", "two", "three"):
            await aside(chat.say, text)  # returns when it is acknowledged
        assert (await bot.chats.until(1))[0] == ChatMessage(
            event_id=bot.chats.taken[0].event_id,
            message_id=bot.chats.taken[0].message_id,
            chat_id="oc_p2p_ou_1",
            chat_kind="p2p",
            sender="ou_1",
            tenant=feishu.tenant,
            text="one",
            at=bot.chats.taken[0].at,
        )
        assert bot.chats.texts == ["one"]
        bot.chats.gate.set()
        await bot.chats.until(3)
        assert bot.chats.texts == ["one", "two", "three"]


@story
async def test_one_chat_does_not_wait_for_another(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        bot.chats.gate.clear()
        await aside(feishu.person("ou_1").chat.say, "slow")
        await aside(feishu.person("ou_2").chat.say, "quick")
        await bot.chats.until(2)
        bot.chats.gate.set()


@story
async def test_an_event_that_is_delivered_twice_or_in_two_events_acts_once(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        chat = feishu.person("ou_1").chat
        event = chat.said("once")
        again = {**event, "header": {**event["header"], "event_id": "another"}}
        for each in (event, event, again):
            assert (await aside(feishu.deliver, each)).code == 200
        await aside(chat.say, "next")
        await bot.chats.until(2)
        assert bot.chats.texts == ["once", "next"]


@story
async def test_an_event_that_reaches_two_bots_acts_once_and_a_click_gets_the_same_answer(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    """E-18, E-19: the platform gives each event to one bot at random, and may give it to another again."""
    async with platform_bot(feishu, tmp_path) as one, platform_bot(feishu, tmp_path) as other:
        await aside(feishu.connections.wait, 2, 60)
        chat = feishu.person("ou_1").chat
        shown = ShownMessage("om_1", chat.chat_id, "")
        one.chats.answer = other.chats.answer = ClickAnswer(
            "info", "noted", {"schema": "2.0", "body": {"elements": []}}
        )
        feishu.api.messages["om_1"] = shown
        for number in range(6):
            event = chat.said(f"text {number}")
            click = chat.clicked(shown, {"n": number})
            answers = await asyncio.gather(*(aside(feishu.deliver, each) for each in (event, event, click)))
            assert [each.code for each in answers] == [200, 200, 200]
            repeated = [(await aside(feishu.deliver, click)).data for _ in range(3)]
            assert repeated == [answers[2].data] * 3
        taken = [*one.chats.taken, *other.chats.taken]
        assert sorted(each.text for each in taken if isinstance(each, ChatMessage)) == [
            f"text {number}" for number in range(6)
        ]
        assert sorted(each.value["n"] for each in taken if isinstance(each, CardClick)) == [*range(6)]
        assert one.chats.taken, "each gets some of the events"
        assert other.chats.taken


def _changed(event: dict[str, Any], **header: Any) -> dict[str, Any]:
    return {**event, "header": {**event["header"], **header}}


@story
async def test_stale_events_and_those_of_other_apps_and_tenants_are_refused(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    """FE: refused events are acknowledged, because sending them again would not help."""
    now = int(time.time() * 1000)
    chat = feishu.person("ou_1").chat
    external = feishu.person("ou_2")
    external.tenant = "another"
    async with platform_bot(feishu, tmp_path) as bot:
        await aside(chat.say, "first: its tenant counts from now on")
        for event in (
            _changed(chat.said("old"), create_time=str(now - DAY_MS - 60_000)),
            _changed(chat.said("future"), create_time=str(now + 3_600_000)),
            _changed(chat.said("app"), app_id="cli_other"),
            _changed(chat.said("tenant"), tenant_key="another"),
            external.chat.said("a person of another company", by=external),
            _changed(chat.said("broken"), create_time="x"),
        ):
            answer = await aside(feishu.deliver, event)
            assert (answer.code, answer.data) == (200, None)
        await aside(chat.say, "last")
        await bot.chats.until(2)
        assert bot.chats.texts == ["first: its tenant counts from now on", "last"]
    async with platform_bot(feishu, tmp_path) as bot:
        await aside(feishu.deliver, _changed(chat.said("tenant again"), tenant_key="another"))
        await aside(chat.say, "after a restart")
        await bot.chats.until(1)
        assert bot.chats.texts == ["after a restart"], "the tenant is remembered"


@story
async def test_a_configured_tenant_counts_from_the_first_event_on(feishu: FakeFeishu, tmp_path: Path) -> None:
    chat = feishu.person("ou_1").chat
    async with platform_bot(feishu, tmp_path, tenant=feishu.tenant) as bot:
        await aside(feishu.deliver, _changed(chat.said("first"), tenant_key="another"))
        await aside(chat.say, "second")
        await bot.chats.until(1)
        assert bot.chats.texts == ["second"]


@story
async def test_a_click_is_answered_while_it_waits_and_within_three_seconds_even_if_it_takes_longer(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        chat = feishu.person("ou_1").chat
        shown = ShownMessage("om_1", chat.chat_id, "")
        quick = await aside(chat.click_with, shown, {"action": "confirm"})
        assert (quick.toast_kind, quick.toast) == ("success", "done")
        bot.chats.gate.clear()
        event = chat.clicked(shown, {"action": "slow"})
        slow = await aside(chat.deliver_click, event)
        assert (slow.code, slow.toast) == (200, "")
        assert receiver.CLICK_SECONDS < 3  # which the platform waits; nothing else has ended the wait
        bot.chats.gate.set()
        while (again := await aside(chat.deliver_click, event)).toast != "done":
            assert again.code == 200
        assert [each.value for each in bot.chats.taken if isinstance(each, CardClick)] == [
            {"action": "confirm"},
            {"action": "slow"},
        ]


@story
async def test_a_mistake_in_one_event_does_not_end_the_others(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        chat = feishu.person("ou_1").chat
        bot.chats.fails = RuntimeError("a mistake in the chats")
        await aside(chat.say, "one")
        assert (await aside(chat.click_with, ShownMessage("om_1", chat.chat_id, ""), {})).code == 200
        bot.chats.fails = None
        await aside(chat.say, "two")
        await bot.chats.until(1)
        assert bot.chats.texts == ["two"]


@story
async def test_a_message_is_carried_out_later_if_the_database_is_away(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        chat = feishu.person("ou_1").chat
        bot.chats.fails = StoreFailed("the database is away")
        await aside(chat.say, "one")
        bot.chats.fails = None
        await bot.chats.until(1)
        assert bot.chats.texts == ["one"]


@story
async def test_what_was_carried_out_is_handed_over_again_if_that_cannot_be_written(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    """And not kept for ever by a bot that believes it is at it."""
    async with platform_bot(feishu, tmp_path) as bot:
        bot.chats.gate.clear()
        await aside(feishu.person("ou_1").chat.say, "one")
        await bot.chats.until(1)
        bot.key_values.fails_at = lambda change: change.key.startswith("todo/") and change.value is None
        bot.chats.gate.set()
        await bot.chats.until(2)
        assert bot.chats.texts == ["one", "one"]
        await settled(bot, "todo/")


@story
async def test_what_a_dead_bot_had_received_is_carried_out_by_the_next(feishu: FakeFeishu, tmp_path: Path) -> None:
    """As if the process had been killed between the acknowledgement and the work."""
    chat = feishu.person("ou_1").chat
    async with key_values_in(tmp_path) as key_values:
        dying = RecordingChats()
        dying.gate.clear()
        receiver = Receiver(AppIdentity(feishu.app_id, feishu.bot), key_values, dying, lease_ms=500)
        first = chat.said("left behind")
        later = _changed(chat.said("and this"), create_time=str(int(first["header"]["create_time"]) + 1))
        for event in (first, later):
            await receiver.receive(json.dumps(event).encode())
        await dying.until(1)
        async with platform_bot(feishu, tmp_path) as bot:
            await bot.chats.until(2)
            assert bot.chats.texts == ["left behind", "and this"]
            dying.gate.set()
            await receiver.stop()
            async with platform_bot(feishu, tmp_path) as third:
                await aside(chat.say, "new")
                new = [asyncio.create_task(bot.chats.until(3)), asyncio.create_task(third.chats.until(1))]
                await asyncio.wait(new, return_when=asyncio.FIRST_COMPLETED)
                for each in new:
                    each.cancel()
                assert sorted([*bot.chats.texts, *third.chats.texts]) == ["and this", "left behind", "new"]


@story
async def test_days_that_are_past_are_forgotten_and_fresh_ids_are_not(feishu: FakeFeishu, tmp_path: Path) -> None:
    now = [1_790_000_000_000]
    chats = RecordingChats()

    def event(text: str) -> bytes:
        return json.dumps(_changed(feishu.person("ou_1").chat.said(text), create_time=str(now[0]))).encode()

    async with key_values_in(tmp_path) as key_values:
        receiver = Receiver(AppIdentity(feishu.app_id, feishu.bot), key_values, chats, lambda: now[0], lease_ms=50)
        first = event("first")
        await receiver.receive(first)
        await receiver.receive(first)
        now[0] += 23 * 3600 * 1000  # after midnight: the same key, although the day is another
        await receiver.receive(first)
        await receiver.receive(event("second"))
        await chats.until(2)
        assert chats.texts == ["first", "second"]
        await receiver.forget()
        assert len(await key_values.list("event/")) == 4, "an id and a message of each day"
        now[0] += 4 * DAY_MS
        for _ in range(2):
            await receiver.forget()
        assert await key_values.list("event/") == []


@pytest.mark.parametrize("kind", ["im.message.message_read_v1", "contact.user.updated_v3"])
def test_other_events_are_acknowledged(feishu: FakeFeishu, tmp_path: Path, kind: str) -> None:
    """The library answers 500 to events without a handler, and the platform sends them again and again."""

    @story
    async def tell() -> None:
        async with platform_bot(feishu, tmp_path) as bot:
            assert (await aside(feishu.deliver, feishu.event(kind, {"a": 1}))).code == 200
            assert bot.chats.taken == []

    tell()
