"""`coder` with a log that cannot be written: CODER_FAILING names, with commas, the kinds of events whose appends
fail."""

import os
from collections.abc import Sequence

from coderelay import cli
from coderelay.app import App
from coderelay.cli.startup import open_app
from coderelay.config.loaded_config import load
from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.event_codec import kind_of
from coderelay.protocol.events import AnyEvent, Recorded
from coderelay.protocol.ids import SessionId
from coderelay.store.store import Store

PROBLEM = "the log cannot be written: Input/output error"


class FailingStore:
    def __init__(self, store: Store) -> None:
        self._append = store.append
        self._failing = os.environ["CODER_FAILING"].split(",")
        self.read, self.heads, self.messages = store.read, store.heads, store.messages
        self.sessions, self.session, self.waiting, self.named = (
            store.sessions,
            store.session,
            store.waiting,
            store.named,
        )
        self.change_counter, self.rebuild, self.close = store.change_counter, store.rebuild, store.close
        self.limit_lock_waits, self.changed, self.all_heads = store.limit_lock_waits, store.changed, store.all_heads
        self.recent_folders, self.key_value_store = store.recent_folders, store.key_value_store

    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        if any(kind_of(event) in self._failing for event in events):
            raise StoreFailed(PROBLEM, "Check the disk and your quota on it.")
        return await self._append(session, at, events, epoch=epoch)


class FailingHouse(App):
    def store(self) -> Store:
        return FailingStore(super().store())


if __name__ == "__main__":
    open_app.new_app = lambda cwd=None: FailingHouse(load(os.environ, cwd))
    cli.run()
