"""A house whose sessions are run by the guide. No request may reach the model server that stands beside it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from coderelay.app import App
from coderelay.config.loaded_config import Config
from coderelay.protocol.asks import Answers, Ask, Deny, QuestionAsk
from coderelay.protocol.commands import CreateSession
from coderelay.protocol.events import AnyEvent, BatchOpened
from coderelay.protocol.ids import SessionId, new_id
from coderelay.protocol.session_setting_values import Mode
from tests.house import ME, InHouse, house
from tests.model_server import script

END = "\n\nNo model is connected; the built-in guide answered. Say `help` or `connect a model`."
END_ZH = "\n\n尚未连接模型；以上由向导按固定规则完成。可以说“帮助”或“连接模型”。"


class Guided:
    """One session."""

    def __init__(self, coder: InHouse) -> None:
        self.coder = coder
        self.turns = 0
        self._asked = 0

    async def begin(self, mode: Mode = "yolo") -> None:
        self.coder.session = SessionId(new_id())
        folder = str(self.coder.folder)
        created = CreateSession(
            session=self.coder.session, cwd=folder, model="guide", agent="guide", mode=mode, by=ME
        )
        await self.coder.host.send(created)

    async def ask(self, text: str) -> str:
        """The last word of a turn that needs nobody."""
        await self.coder.prompt(text)
        return await self.ended()

    async def ended(self) -> str:
        self.turns += 1
        return (await self.coder.ended(self.turns)).text

    async def next_ask(self) -> Ask:
        """Wait for something that is asked after what was asked last."""

        def asks(event: AnyEvent) -> bool:
            return isinstance(event, BatchOpened) and any(each.ask for each in event.judged)

        opened = await self.coder.until(asks, after=self._asked)
        assert isinstance(opened.event, BatchOpened)
        self._asked = opened.seq
        (ask,) = [each.ask for each in opened.event.judged if each.ask]
        return ask

    async def answer_next(self, text: str | None) -> QuestionAsk:
        """Answer the question that comes next, or refuse to."""
        ask = await self.next_ask()
        assert isinstance(ask, QuestionAsk)
        decision = Deny() if text is None else Answers({ask.questions[0].question: text})
        await self.coder.answer(ask, decision)
        return ask


@asynccontextmanager
async def guided(root: Path, mode: Mode = "yolo", path: str = "/usr/bin:/bin") -> AsyncGenerator[Guided]:
    def build(config: Config, env: Mapping[str, str]) -> App:
        return App(config, {**env, "PATH": path})

    async with house(root, script(), build=build) as coder:
        session = Guided(coder)
        await session.begin(mode)
        yield session
        assert coder.server.received == []
