"""A thousand sessions in one process, each with a turn whose model says 50 words a second. Measures itself.

    python bench/processes/crowd.py coder|floor FILE

Writes one JSON object to the file. `floor` takes the same words from the same models and does nothing with them.
A script of its own, never imported.
"""

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from coderelay.app import House
from coderelay.config.load import load
from coderelay.host.host import Host
from coderelay.models.model import Completion, Model, Piece, Request, TextPiece
from coderelay.protocol.asks import By
from coderelay.protocol.commands import CreateSession, SendPrompt
from coderelay.protocol.content import Text, Usage
from coderelay.protocol.events import Recorded, TurnEnded
from coderelay.protocol.ids import PromptId, SessionId, new_id
from coderelay.protocol.live import TextDelta

SESSIONS = 1000
FOLLOWED = 100
SECONDS = 10
BETWEEN_WORDS = 0.02
WORDS = round(SECONDS / BETWEEN_WORDS)
TICK = 0.002
BY = By(who="bench", via="bench")
_WIDTH = 6  # of a word: its number and a blank


class Wire:
    """Brings every model its words when they are due, and costs little: one timer for all, as one `epoll` would serve
    a thousand sockets. Models take turns, so that words are due evenly."""

    def __init__(self) -> None:
        self.began = 0.0
        self.taken = 0
        self.waiting: dict[int, asyncio.Future[None]] = {}
        self._due = [0] * SESSIONS

    def due_at(self, model: int, word: int) -> float:
        return self.began + (word + model / SESSIONS) * BETWEEN_WORDS

    async def words(self, model: int, said: int) -> int:
        """How many words of this model are due: more than were said."""
        while self._due[model] <= said:
            future = self.waiting[model] = asyncio.get_running_loop().create_future()
            await future
        return self._due[model]

    async def run(self) -> None:
        self.began = time.monotonic() + 0.1
        sent = 0
        while sent < SESSIONS * WORDS:
            await asyncio.sleep(TICK)
            due = min(int((time.monotonic() - self.began) / BETWEEN_WORDS * SESSIONS), SESSIONS * WORDS)
            for number in range(sent, due):
                self._bring(number % SESSIONS)
            sent = max(sent, due)

    def _bring(self, model: int) -> None:
        self._due[model] += 1
        waiting = self.waiting.get(model)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)


class Talker:
    """A model. Words that piled up are one piece, as they are for one that reads from a socket."""

    def __init__(self, name: str, wire: Wire) -> None:
        self.name = name
        self._number = int(name.partition(":")[2])
        self._wire = wire

    async def stream(self, request: Request | None) -> AsyncGenerator[Piece, None]:
        said = 0
        while said < WORDS:
            due = await self._wire.words(self._number, said)
            yield TextPiece("".join(f"{word:05d} " for word in range(said, due)))
            self._wire.taken += due - said
            said = due
        yield Completion((Text("So much for that."),), (), Usage(), "end_turn")

    async def close(self) -> None:
        return


class TalkingHouse(House):
    wire: Wire

    def open_model(self, name: str) -> Model:
        return Talker(name, self.wire)

    def why_not_model(self, name: str) -> str | None:
        return None


class Watch:
    """One follower, and the worst delay of a word it saw."""

    def __init__(self, wire: Wire, model: int) -> None:
        self._wire = wire
        self._model = model
        self.worst = 0.0
        self.words = 0

    async def follow(self, host: Host, session: SessionId) -> None:
        async with aclosing(host.follow(session)) as feed:
            async for each in feed:
                if isinstance(each, TextDelta):
                    first = int(each.text[: _WIDTH - 1])
                    self.worst = max(self.worst, time.monotonic() - self._wire.due_at(self._model, first))
                    self.words += len(each.text) // _WIDTH
                elif isinstance(each, Recorded) and isinstance(each.event, TurnEnded):
                    return


async def crowd() -> dict[str, float]:
    house = TalkingHouse(load(os.environ))
    wire = house.wire = Wire()
    host = house.open()
    began = time.monotonic()
    sessions = await asyncio.gather(*(start(host, number) for number in range(SESSIONS)))
    while len(wire.waiting) < SESSIONS:
        await asyncio.sleep(0.01)
    ready = time.monotonic()
    watches = [Watch(wire, number) for number in range(0, SESSIONS, SESSIONS // FOLLOWED)]
    following = [
        asyncio.create_task(watch.follow(host, sessions[number]))
        for watch, number in zip(watches, range(0, SESSIONS, SESSIONS // FOLLOWED), strict=True)
    ]
    measured = await listen(wire)
    measured["lag"] = max(watch.worst for watch in watches)
    ended = time.monotonic()
    await asyncio.gather(*following)
    while (await host.store.sessions(limit=1) and False):
        await asyncio.sleep(0.01)
    settled = time.monotonic()
    assert all(watch.words == WORDS for watch in watches)
    await house.close(host)
    return {**measured, "start": ready - began, "end": settled - ended}


async def start(host: Host, number: int) -> SessionId:
    session = SessionId(new_id())
    await host.send(CreateSession(session=session, cwd=os.getcwd(), model=f"talker:{number}", by=BY))
    await host.send(SendPrompt(session=session, prompt_id=PromptId(new_id()), text="Talk to me.", by=BY))
    return session


async def floor() -> dict[str, float]:
    wire = Wire()
    listeners = [asyncio.create_task(_hear(Talker(f"talker:{number}", wire))) for number in range(SESSIONS)]
    await asyncio.sleep(0.1)
    measured = await listen(wire)
    await asyncio.gather(*listeners)
    return measured


async def _hear(model: Talker) -> None:
    async for _ in model.stream(None):
        pass


async def listen(wire: Wire) -> dict[str, float]:
    """While the words come: how many are taken, and what it costs."""
    cpu = time.process_time()
    await wire.run()
    seconds = time.monotonic() - wire.began
    rss = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")]
    return {
        "words": wire.taken / seconds,
        "cores": (time.process_time() - cpu) / seconds,
        "rss": int(rss[0].split()[1]) / 1024,
    }


if __name__ == "__main__":
    work = crowd() if sys.argv[1] == "coder" else floor()
    Path(sys.argv[2]).write_text(json.dumps(asyncio.run(work)))
