"""The chats of a bot in this process, on a real log and a scripted model, with the messages as people see them.

async with chat_house(tmp_path, script(says("hello"))) as bot:
    await bot.say("hi")
    assert (await bot.card("任务完成")).texts == (…)
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from coderelay.app import App
from coderelay.client.client import NO_CAPABILITIES
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ListSessions
from coderelay.surfaces.feishu.access_rules import AccessRules
from coderelay.surfaces.feishu.account_links import Links
from coderelay.surfaces.feishu.card_outbox_interface import ChatPlace
from coderelay.surfaces.feishu.chat_options import ChatOptions
from coderelay.surfaces.feishu.chat_side_assembly import ChatSide
from coderelay.surfaces.feishu.incoming_event_types import CardClick, ChatKind, ChatMessage, ClickAnswer
from tests.feishu.card_reader import CardRead
from tests.feishu.recording_outbox import RecordingOutbox, Shown
from tests.house import InHouse, house
from tests.model_server import Script

ANNE, BOB, EVE = "ou_anne", "ou_bob", "ou_eve"
PEOPLE = AccessRules(users=(ANNE, BOB))
CHAT = "oc_anne"
HOST_PERSON = "tester"  # who the sessions of the house belong to
NOW = 1_800_000_000_000


class ChatHouse:
    def __init__(self, coder: InHouse, outbox: RecordingOutbox, chat_side: ChatSide) -> None:
        self.coder = coder
        self.outbox = outbox
        self.chat_side = chat_side
        self.client = coder.host.connect(NO_CAPABILITIES, "zh")
        self._said = 0

    async def say(
        self,
        text: str,
        *,
        sender: str = ANNE,
        chat: str = CHAT,
        kind: ChatKind = "p2p",
        mentions_bot: bool = False,
        thread: str = "",
        message_id: str = "",
    ) -> str:
        self._said += 1
        message_id = message_id or f"om_said_{id(self)}_{self._said}"
        message = ChatMessage(
            event_id=f"event_{message_id}",
            message_id=message_id,
            chat_id=chat,
            chat_kind=kind,
            sender=sender,
            tenant="t",
            text=text,
            mentions_bot=mentions_bot,
            thread_id=thread,
        )
        await self.chat_side.message(message)
        return message_id

    async def shown(self, title: str, *, chat: str = CHAT, nth: int = 1, text: str = "") -> Shown:
        """The nth message of a chat whose card has this title now, as soon as it is there."""

        def find() -> Shown | None:
            found = [
                each
                for each in self.outbox.in_chat(chat)
                if each.card.title.startswith(title) and text in each.card.text
            ]
            return found[nth - 1] if len(found) >= nth else None

        return await self.outbox.until(find)

    async def results(self, count: int) -> None:
        """Wait until so many turns have ended, in whichever chats."""

        def last() -> Shown | None:
            found = [each for each in self.outbox.messages.values() if each.key.startswith("result/")]
            return found[count - 1] if len(found) >= count else None

        await self.outbox.until(last)

    async def card(self, title: str, *, chat: str = CHAT, nth: int = 1, text: str = "") -> CardRead:
        return (await self.shown(title, chat=chat, nth=nth, text=text)).card

    async def click(
        self,
        shown: Shown,
        label: str,
        *,
        by: str = ANNE,
        form: dict[str, Any] | None = None,
        change: Callable[[CardClick], CardClick] = lambda click: click,
    ) -> ClickAnswer:
        value = shown.card.button(label).value
        return await self.click_value(shown, value, by=by, form=form, change=change)

    async def click_value(
        self,
        shown: Shown,
        value: dict[str, Any],
        *,
        by: str = ANNE,
        form: dict[str, Any] | None = None,
        change: Callable[[CardClick], CardClick] = lambda click: click,
    ) -> ClickAnswer:
        click = CardClick(
            event_id=f"click_{shown.message_id}",
            message_id=shown.message_id,
            chat_id=shown.place.chat_id,
            operator=by,
            tenant="t",
            value=value,
            form=form or {},
            at=NOW,
        )
        return await self.chat_side.click(change(click))

    def titles(self, chat: str = CHAT) -> list[str]:
        return [each.card.title for each in self.outbox.in_chat(chat)]

    async def sessions(self) -> list[SessionId]:
        return [each.id for each in await self.client.get(ListSessions())]

    async def link(self, open_id: str, chat_id: str, person: str = HOST_PERSON) -> None:
        links = Links(self.client.key_value_store("feishu:test"))
        assert await links.redeem(await links.offer(person, NOW), open_id, chat_id, NOW) is not None


@asynccontextmanager
async def chat_house(
    root: Path,
    script: Script,
    *,
    outbox: RecordingOutbox | None = None,
    language: str = "zh",
    build: Callable[..., App] = App,
    **options: Any,
) -> AsyncGenerator[ChatHouse]:
    """`outbox` is what was shown before, for a bot that starts again."""
    async with house(root, script, build=build) as coder:
        client = coder.host.connect(NO_CAPABILITIES, language)
        shown = outbox or RecordingOutbox()
        chosen = ChatOptions(host_person=HOST_PERSON, cwd=str(coder.folder), access=PEOPLE)
        chat_side = ChatSide(client, client.key_value_store("feishu:test"), shown, replace(chosen, **options))
        await chat_side.start()
        try:
            yield ChatHouse(coder, shown, chat_side)
        finally:
            await chat_side.close()


__all__ = ["ANNE", "BOB", "CHAT", "EVE", "ChatHouse", "ChatPlace", "chat_house"]
