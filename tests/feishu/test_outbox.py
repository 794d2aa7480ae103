"""The outbox, with the real client of the platform: every card gets there once, whatever fails on the way."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.json import encode

from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.key_value_store import Change
from coderelay.surfaces.feishu.bot import BotTiming
from coderelay.surfaces.feishu.card_outbox_interface import (
    CARDS,
    STREAMED_ELEMENT,
    UNSENT,
    Card,
    CardRecord,
    ChatPlace,
    dead_letters,
    decode_record,
)
from coderelay.surfaces.feishu.card_sender import CardSender
from coderelay.surfaces.feishu.durable_card_outbox import DurableCardOutbox
from coderelay.surfaces.feishu.lark_api import AppCredentials, LarkApi
from coderelay.surfaces.feishu.rate_limits import RateLimits
from coderelay.testing.feishu_server import FakeFeishu
from tests.feishu.platform_bot import aside, key_values_in, platform_bot, settled
from tests.house import story

CREATE, PATCH = r"POST .*/im/v1/messages$", r"PATCH .*/im/v1/messages/"
SLOW = BotTiming(lease_ms=600_000, pace=0.1)


def card(text: str, **config: Any) -> Card:
    elements = [{"tag": "div", "text": {"tag": "plain_text", "content": text}}]
    return {"schema": "2.0", "config": {"update_multi": True, **config}, "body": {"elements": elements}}


def streaming(text: str = "") -> Card:
    answer = {"tag": "plain_text", "element_id": STREAMED_ELEMENT, "content": text}
    elements = [{"tag": "div", "text": answer}]
    return {"schema": "2.0", "config": {"streaming_mode": True}, "body": {"elements": elements}}


def place_of(feishu: FakeFeishu, open_id: str = "ou_1") -> ChatPlace:
    return ChatPlace(feishu.person(open_id).chat.chat_id)


async def shows(feishu: FakeFeishu, *texts: str, chat: str = "ou_1") -> None:
    """Wait until the chat shows exactly these cards."""
    there = feishu.person(chat).chat
    await aside(there.wait, lambda: [each.text for each in there.messages] == [*texts])


@story
async def test_a_card_is_sent_once_and_changed_in_place(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        place = place_of(feishu)
        assert await bot.outbox.message_of("k") is None
        await bot.outbox.show("k", place, card("one"))
        await shows(feishu, "one")
        await bot.outbox.show("k", place, card("one"))
        await bot.outbox.show("other", place, card("beside"))
        await bot.outbox.show("k", place, card("two"))
        await shows(feishu, "two", "beside")
        await settled(bot)
        (message, _) = feishu.person("ou_1").chat.messages
        assert await bot.outbox.message_of("k") == message.message_id
        assert await bot.outbox.key_of(message.message_id) == "k"
        assert await bot.outbox.key_of("om_unknown") is None
        assert [each["body"] for each in message.history] == [card("one")["body"], card("two")["body"]]


@story
async def test_newer_content_replaces_what_was_not_sent_yet(feishu: FakeFeishu, tmp_path: Path) -> None:
    feishu.fail(CREATE, times=3, status=503)
    async with platform_bot(feishu, tmp_path) as bot:
        for number in range(50):
            await bot.outbox.show("k", place_of(feishu), card(f"state {number}"))
        await shows(feishu, "state 49")
        assert len(feishu.person("ou_1").chat.messages[0].history) < 10


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 503, "times": 3},
        {"status": 429, "code": 230020, "times": 2},
        {"status": 400, "code": 230020, "times": 2},
        {"status": 400, "code": 99991400},
        {"status": 400, "code": 230049},
        {"drops": True, "times": 2},
        {"drops": True, "after": True},
        {"status": 502, "after": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", [CREATE, PATCH, r"POST .*/reply$", "tenant_access_token"])
def test_what_may_pass_is_tried_again_and_nothing_is_sent_twice(
    feishu: FakeFeishu, tmp_path: Path, path: str, fault: dict[str, Any]
) -> None:
    """Also if the platform had carried out the call whose answer was lost: a message has the same uuid each time."""

    @story
    async def tell() -> None:
        async with platform_bot(feishu, tmp_path) as bot:
            if path == "tenant_access_token":
                feishu.api.expire_tokens()
            feishu.fail(path, **fault)
            said = feishu.person("ou_1").chat.said("hi")["event"]["message"]["message_id"]
            place = ChatPlace(place_of(feishu).chat_id, said if "reply" in path else "")
            await bot.outbox.show("k", place, card("one"))
            await shows(feishu, "one")
            await bot.outbox.show("k", place, card("two"))
            await shows(feishu, "two")
            await settled(bot)
            assert feishu.faults.left() == 0
            assert len(await dead_letters(bot.key_values)) == 0

    tell()


@pytest.mark.parametrize("path", [CREATE, r"POST .*/cardkit/v1/cards$", r"PUT .*/cards/[^/]*$", "settings$"])
@pytest.mark.parametrize("fault", [{"status": 500}, {"drops": True, "after": True}], ids=str)
def test_a_card_that_is_streamed_to_gets_there_once_whatever_fails(
    feishu: FakeFeishu, tmp_path: Path, path: str, fault: dict[str, Any]
) -> None:
    @story
    async def tell() -> None:
        async with platform_bot(feishu, tmp_path) as bot:
            feishu.fail(path, **fault)
            await bot.outbox.show("k", place_of(feishu), streaming("begun"))
            await aside(feishu.person("ou_1").chat.wait_for, "begun")
            bot.outbox.stream("k", "begun, streamed")
            await shows(feishu, "begun, streamed")
            await bot.outbox.show("k", place_of(feishu), card("ended"))
            await shows(feishu, "ended")
            await settled(bot)
            assert feishu.faults.left() == 0
            assert len(await dead_letters(bot.key_values)) == 0

    tell()


@story
async def test_e21_a_card_that_is_refused_is_kept_as_a_dead_letter_and_stops_nobody(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        place = place_of(feishu)
        bad: Card = {"schema": "2.0", "body": {"elements": [{"tag": "action", "actions": []}]}}
        await bot.outbox.show("bad", place, bad)
        await bot.outbox.show("large", place, card("x" * 40_000))
        await bot.outbox.show("good", place, card("good"))
        await shows(feishu, "good")
        await settled(bot)
        letters = {each.key: each for each in await dead_letters(bot.key_values)}
        assert sorted(letters) == ["bad", "large"]
        assert letters["bad"].error.startswith("230099: the tag 'action' is not supported")
        assert letters["large"].error.startswith("230025")
        assert letters["bad"].chat_id == place.chat_id
        await bot.outbox.show("bad", place, card("better"))
        await shows(feishu, "good", "better")
        await settled(bot)
        assert [each.key for each in await dead_letters(bot.key_values)] == ["large"], "newer content revives it"


@story
async def test_a_token_that_the_platform_no_longer_takes_is_fetched_anew(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        feishu.api.expire_tokens()
        await bot.outbox.show("k", place_of(feishu), card("one"))
        await shows(feishu, "one")


@story
async def test_a_reply_to_a_message_that_was_recalled_is_sent_to_the_chat(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        place = place_of(feishu)
        await bot.outbox.show("first", place, card("first"))
        await shows(feishu, "first")
        (first,) = feishu.person("ou_1").chat.messages
        await bot.outbox.show("second", ChatPlace(place.chat_id, first.message_id), card("second"))
        await shows(feishu, "first", "second")
        assert feishu.person("ou_1").chat.messages[1].reply_to == first.message_id
        first.is_recalled = True
        await bot.outbox.show("third", ChatPlace(place.chat_id, first.message_id), card("third"))
        await shows(feishu, "first", "second", "third")
        await bot.outbox.show("first", place, card("too late"))
        await settled(bot)
        assert [each.key for each in await dead_letters(bot.key_values)] == ["first"]


@story
async def test_a_person_is_written_to_by_their_open_id(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        await bot.outbox.show("k", ChatPlace("ou_7"), card("for you"))
        await shows(feishu, "for you", chat="ou_7")


@story
async def test_text_is_streamed_into_a_card_until_the_card_is_shown_whole(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        place, text = place_of(feishu), ""
        bot.outbox.stream("k", "before the card: no effect")
        await bot.outbox.show("k", place, streaming("…"))
        for number in range(200):
            text += f"word{number} "
            bot.outbox.stream("k", text)
            await asyncio.sleep(0)
        await shows(feishu, text)
        (message,) = feishu.person("ou_1").chat.messages
        assert len(message.history) < 50, "what was not sent yet is dropped"
        await bot.outbox.show("k", place, card("the whole answer"))
        bot.outbox.stream("k", "too late")
        await shows(feishu, "the whole answer")
        await settled(bot)
        (entity,) = feishu.api.cards.values()
        assert not entity.streaming_until
        assert len(feishu.person("ou_1").chat.messages) == 1


@story
async def test_streaming_is_begun_again_before_and_after_the_platform_ends_it(
    feishu: FakeFeishu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        await bot.outbox.show("k", place_of(feishu), streaming())
        bot.outbox.stream("k", "one")
        await shows(feishu, "one")
        (entity,) = feishu.api.cards.values()
        entity.streaming_until = 1.0  # ten minutes have passed
        bot.outbox.stream("k", "one two")
        await shows(feishu, "one two")
        assert entity.streaming_until > 1.0
        entity.streaming_until = 0.0  # somebody has ended it
        bot.outbox.stream("k", "one two three")
        await shows(feishu, "one two three")


@story
async def test_a_card_that_is_shown_whole_does_not_begin_to_stream_again(feishu: FakeFeishu, tmp_path: Path) -> None:
    """A text on its way is refused, because the card was shown whole meanwhile."""
    async with platform_bot(feishu, tmp_path) as bot:
        await bot.outbox.show("k", place_of(feishu), streaming("begun"))
        await aside(feishu.person("ou_1").chat.wait_for, "begun")
        ((card_id, entity),) = feishu.api.cards.items()
        feishu.fail("PUT .*/content$", status=400, code=300309, delay=0.5)
        bot.outbox.stream("k", "begun, on its way")
        written = f"PUT /open-apis/cardkit/v1/cards/{card_id}/elements/{STREAMED_ELEMENT}/content"
        await aside(feishu.wait_for_request, written, 1)
        await bot.outbox.show("k", place_of(feishu), card("whole"))
        await shows(feishu, "whole")
        await settled(bot)
        await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name() == "stream k"))
        assert not entity.streaming_until


@story
async def test_a_card_that_could_not_be_kept_does_not_hold_back_the_next(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        bot.key_values.fails_at = lambda change: change.key == "card/lost"
        with pytest.raises(StoreFailed):
            await bot.outbox.show("lost", place_of(feishu), card("lost"))
        await bot.outbox.show("k", place_of(feishu), card("next"))
        await shows(feishu, "next")


@story
async def test_a_text_that_is_too_long_to_stream_shows_its_end(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as bot:
        await bot.outbox.show("k", place_of(feishu), streaming())
        bot.outbox.stream("k", "深" * 20_000 + "end")
        chat = feishu.person("ou_1").chat
        message = await aside(chat.wait_for, "end")
        assert message.text.startswith("…深")
        assert len(message.text.encode()) < 25_000


@story
async def test_without_the_right_to_cardkit_the_card_is_an_ordinary_one(feishu: FakeFeishu, tmp_path: Path) -> None:
    feishu.api.has_cardkit = False
    async with platform_bot(feishu, tmp_path) as bot:
        await bot.outbox.show("k", place_of(feishu), streaming("working"))
        await shows(feishu, "working")
        bot.outbox.stream("k", "no effect")
        await bot.outbox.show("k", place_of(feishu), card("done"))
        await shows(feishu, "done")


@story
async def test_e19_a_streaming_card_is_finished_by_the_next_process(feishu: FakeFeishu, tmp_path: Path) -> None:
    """The numbers that the platform wants to rise go on rising."""
    async with platform_bot(feishu, tmp_path) as bot:
        await bot.outbox.show("k", place_of(feishu), streaming())
        for text in ("a", "ab", "abc"):
            bot.outbox.stream("k", text)
            await shows(feishu, text)
    async with platform_bot(feishu, tmp_path) as bot:
        bot.outbox.stream("k", "abcd")
        await shows(feishu, "abcd")
        next(iter(feishu.api.cards.values())).sequence += 30_000  # another bot's clock is ahead
        await bot.outbox.show("k", place_of(feishu), card("end"))
        await shows(feishu, "end")


@story
async def test_what_a_bot_left_unsent_is_sent_by_another(feishu: FakeFeishu, tmp_path: Path) -> None:
    feishu.fail(CREATE, times=1000, status=500)
    async with platform_bot(feishu, tmp_path) as bot:
        await bot.outbox.show("z", place_of(feishu), card("kept"))
        await bot.outbox.show("a", place_of(feishu), card("kept too"))
    for fault in feishu.faults._faults:  # pyright: ignore[reportPrivateUsage]  # the platform works again
        fault.times = 0
    async with platform_bot(feishu, tmp_path) as bot:
        await shows(feishu, "kept", "kept too")
        await settled(bot)


@story
async def test_a_message_overtook_one_that_was_still_a_dead_bots(feishu: FakeFeishu, tmp_path: Path) -> None:
    now = time.time_ns() // 1_000_000
    first = CardRecord(place_of(feishu), card("first"), now, holder="dead", until=now + 2000)
    second = CardRecord(place_of(feishu), card("second"), now + 1, holder="dead", until=now)
    async with key_values_in(tmp_path) as key_values:
        for key, record in (("z", first), ("a", second)):
            await key_values.write(Change(CARDS + key, encode(record)), Change(UNSENT + key, b""))
    async with platform_bot(feishu, tmp_path) as bot:
        await shows(feishu, "first", "second")
        await settled(bot)


@story
async def test_messages_of_one_millisecond_lost_their_order(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with key_values_in(tmp_path) as key_values:
        api = LarkApi(AppCredentials(feishu.app_id, feishu.app_secret, feishu.url))
        sender = CardSender(feishu.app_id, api, RateLimits(), lambda: 5)
        outbox = DurableCardOutbox(key_values, sender, clock=lambda: 5)
        await outbox.stop()
        for key in ("z", "a"):
            await outbox.show(key, place_of(feishu), card(key))
        created = [decode_record(each.value).created for each in await key_values.list(CARDS)]
    assert created == [6, 5]


@pytest.mark.parametrize("kind", ["message", "card"])
def test_a_state_that_reaches_the_platform_late_does_not_stay(feishu: FakeFeishu, tmp_path: Path, kind: str) -> None:
    """A bot stood still in the middle of a call, and another has shown a newer state meanwhile."""
    begun, path = (card("begun"), PATCH) if kind == "message" else (streaming("begun"), r"PUT .*/cards/[^/]*$")

    @story
    async def tell() -> None:
        timing = BotTiming(lease_ms=200, pace=0.1)
        async with (
            platform_bot(feishu, tmp_path, timing=timing) as one,
            platform_bot(feishu, tmp_path, timing=timing) as other,
        ):
            chat = feishu.person("ou_1").chat
            await one.outbox.show("k", place_of(feishu), begun)
            await aside(chat.wait_for, "begun")
            await settled(one)
            feishu.fail(path, delay=1.0, after=True)
            await one.outbox.show("k", place_of(feishu), card("old"))
            await aside(feishu.api.wait, lambda: feishu.faults.left() == 0, feishu.seconds)
            await other.outbox.show("k", place_of(feishu), card("new"))
            (message,) = chat.messages
            await aside(chat.wait, lambda: message.text == "new")
            if kind == "message":
                await aside(chat.wait, lambda: message.text == "old")
            await aside(chat.wait, lambda: message.text == "new")
            await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name() == "send k"))
            await settled(one)
            assert message.text == "new"
            assert await dead_letters(one.key_values) == []

    tell()


@story
async def test_two_bots_that_show_the_same_card_send_it_once(feishu: FakeFeishu, tmp_path: Path) -> None:
    async with platform_bot(feishu, tmp_path) as one, platform_bot(feishu, tmp_path) as other:
        place = place_of(feishu)
        for text in ("one", "two", "three", "four"):
            await asyncio.gather(*(each.outbox.show("k", place, card(text)) for each in (one, other)))
            await shows(feishu, text)
        await settled(one)
        (message,) = feishu.person("ou_1").chat.messages
        assert [each["body"] for each in message.history] == [
            card(text)["body"] for text in ("one", "two", "three", "four")
        ]
        assert await other.outbox.message_of("k") == message.message_id


@story
async def test_the_platforms_limits_are_kept_in_every_chat_message_and_card(
    feishu: FakeFeishu, tmp_path: Path
) -> None:
    """At the real pace, with a platform that refuses what is too fast."""
    feishu.api.enforces_rates = True
    async with platform_bot(feishu, tmp_path, timing=BotTiming(lease_ms=5000)) as bot:
        place = place_of(feishu)
        await bot.outbox.show("stream", place, streaming())
        for number in range(6):
            await bot.outbox.show(f"k{number}", place, card(f"card {number}"))
        for number in range(200):
            bot.outbox.stream("stream", f"text {number}")
            await bot.outbox.show("k0", place, card(f"changed {number}"))
            await asyncio.sleep(0.01)
        chat = feishu.person("ou_1").chat
        await aside(chat.wait, lambda: chat.find("text 199") and chat.find("changed 199") and len(chat.messages) == 7)
        fastest = feishu.api.fastest
        assert max(number for name, number in fastest.items() if not name.startswith("card")) <= 5
        assert max(number for name, number in fastest.items() if name.startswith("card")) <= 10


@story
async def test_an_hour_of_failures_makes_a_dead_letter(
    feishu: FakeFeishu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an hour, the platform no longer recognises a repeated message."""
    monkeypatch.setattr("coderelay.surfaces.feishu.durable_card_outbox._TRIED_MS", 300)
    feishu.fail(CREATE, times=1000, status=500)
    async with platform_bot(feishu, tmp_path) as bot:
        await bot.outbox.show("k", place_of(feishu), card("lost"))
        await settled(bot)
        (letter,) = await dead_letters(bot.key_values)
        assert (letter.key, "a fault" in letter.error) == ("k", True)
