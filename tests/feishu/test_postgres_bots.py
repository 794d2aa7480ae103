"""Two bots that share nothing but a PostgreSQL server."""

import asyncio
from pathlib import Path

from coderelay.surfaces.feishu.card_outbox_interface import ChatPlace
from coderelay.testing.feishu_server import FakeFeishu, ShownMessage
from tests.feishu.platform_bot import aside, platform_bot, settled
from tests.feishu.test_outbox import card
from tests.house import story

pytest_plugins = ["tests.postgres"]


@story
async def test_events_act_once_and_cards_are_sent_once_with_key_values_on_postgresql(
    feishu: FakeFeishu, tmp_path: Path, database: str
) -> None:
    async with (
        platform_bot(feishu, tmp_path, database=database) as one,
        platform_bot(feishu, tmp_path, database=database) as other,
    ):
        await aside(feishu.connections.wait, 2, feishu.seconds)
        chat = feishu.person("ou_1").chat
        for number in range(10):
            event = chat.said(f"text {number}")
            click = chat.clicked(ShownMessage("om_1", chat.chat_id, ""), {"n": number})
            delivered = [aside(feishu.deliver, each) for each in (event, event, click, click)]
            assert [each.code for each in await asyncio.gather(*delivered)] == [200] * 4
            both = [bot.outbox.show("k", ChatPlace(chat.chat_id), card(f"state {number}")) for bot in (one, other)]
            await asyncio.gather(*both)
        await aside(chat.wait, lambda: chat.text == "state 9")
        await settled(one)
        assert sorted([*one.chats.texts, *other.chats.texts]) == [f"text {number}" for number in range(10)]
        assert len(one.chats.taken) + len(other.chats.taken) == 20
        assert len(chat.messages) == 1
