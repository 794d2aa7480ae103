"""A log that cannot be written in the middle of a turn: said to whoever follows, and carried on later."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from coderelay.app import App
from coderelay.client.views.cowork_messages import SessionRows
from coderelay.config.loaded_config import Config
from coderelay.protocol.errors import StoreFull
from coderelay.protocol.events import AnyEvent, CallEnded, Recorded
from coderelay.protocol.ids import SessionId
from coderelay.store.sqlite.store import SqliteStore
from coderelay.store.store import Projection, Store
from tests.house import house, story
from tests.model_server import bash, proposes, says, script


class FullWhenACallEnds(SqliteStore):
    """The disk has no room for the result of a call."""

    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        if any(isinstance(event, CallEnded) for event in events):
            raise StoreFull(f"no space left to write {self.path}", "Free some space and try again.")
        return await super().append(session, at, events, epoch=epoch)


class FullHouse(App):
    def __init__(self, config: Config, env: Mapping[str, str]) -> None:
        super().__init__(config, env)
        self.opened: Projection = SessionRows()

    def store(self) -> Store:
        return FullWhenACallEnds(self.config.database, self.opened)


@pytest.mark.quick
@story
async def test_a_full_disk_is_said_and_the_turn_is_carried_on_when_there_is_room(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash("echo x >> effects"))), build=FullHouse) as coder:
        await coder.prompt("go")
        with pytest.raises(StoreFull, match="no space left"):
            await coder.ended()
        session = coder.session
    async with house(tmp_path, script(says("carried on"))) as coder:
        await coder.open(session)
        assert (await coder.ended()).text == "carried on"
        assert await coder.story() == ["user: go", "bash: unknown", "agent: carried on"]
        assert (coder.folder / "effects").read_text() == "x\n"
    database = sqlite3.connect(tmp_path / "home" / "sessions.db")
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
