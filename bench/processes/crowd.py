"""A thousand sessions in one process, each with a turn whose model says 50 words a second. Measures itself.

    python bench/processes/crowd.py floor|talk|work FILE

Writes one JSON object to the file. In `talk` each turn is one long message; in `work` it has a call in the middle,
at another time for each session. `floor` takes the same words from the same models and does nothing with them.
A script of its own, never imported.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path

from coderelay.app import App
from coderelay.config.loaded_config import load
from coderelay.host.host import Host
from coderelay.models.model import Completion, Model, Models, Piece, Request, TextPiece
from coderelay.models.model_card import Card
from coderelay.models.model_registry import ModelRegistry
from coderelay.protocol.asks import By
from coderelay.protocol.calls import Call
from coderelay.protocol.commands import CreateSession, SendPrompt
from coderelay.protocol.events import Recorded, TurnEnded
from coderelay.protocol.ids import CallId, PromptId, SessionId, new_id
from coderelay.protocol.live_updates import TextDelta
from coderelay.protocol.message_content import Text
from coderelay.protocol.usage_and_cost import Usage

SESSIONS = 1000
FOLLOWED = range(0, SESSIONS, 10)
SECONDS = 10
BETWEEN_WORDS = 0.02
WORDS = round(SECONDS / BETWEEN_WORDS)
TICK = 0.002
BY = By(who="bench", via="bench")
READ = '{"path": "read0.txt"}'
_REQUEST = Request("", (), ())


class Wire:
    """Brings every model its words when they are due, and costs little: one timer for all, as one `epoll` serves a
    thousand sockets. Models take turns, so that words come evenly."""

    def __init__(self) -> None:
        self.began = 0.0
        self.taken = 0
        self.ready = asyncio.Event()
        self.over = asyncio.Event()
        self._ended = 0
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._due = [0] * SESSIONS

    def due_at(self, model: int, word: int) -> float:
        return self.began + (word + model / SESSIONS) * BETWEEN_WORDS

    async def words(self, model: int, said: int) -> int:
        """How many words of this model are due by now: more than were said."""
        while self._due[model] <= said:
            future = self._waiting[model] = asyncio.get_running_loop().create_future()
            if len(self._waiting) == SESSIONS:
                self.ready.set()
            await future
        return self._due[model]

    def hang_up(self) -> None:
        self._ended += 1
        if self._ended == SESSIONS:
            self.over.set()

    async def run(self) -> None:
        self.began = time.monotonic()
        sent = 0
        while sent < SESSIONS * WORDS:
            await asyncio.sleep(TICK)
            due = min(int((time.monotonic() - self.began) / BETWEEN_WORDS * SESSIONS), SESSIONS * WORDS)
            for number in range(sent, due):
                self._bring(number % SESSIONS)
            sent = due

    def _bring(self, model: int) -> None:
        self._due[model] += 1
        waiting = self._waiting.get(model)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)


class Talker:
    """A model. Words that piled up are one piece, as they are for one that reads from a socket."""

    def __init__(self, number: int, wire: Wire, call_after: int = WORDS) -> None:
        self.id = f"bench:{number}"
        self.card = Card()
        self._number = number
        self._wire = wire
        self._call_after = call_after
        self._said = 0

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        end = self._call_after if self._said < self._call_after else WORDS
        while self._said < end:
            due = min(await self._wire.words(self._number, self._said), end)
            yield TextPiece("".join(f"{word:05d} " for word in range(self._said, due)))
            self._wire.taken += due - self._said
            self._said = due
        calls = () if end == WORDS else (Call(CallId(new_id()), "read", READ),)
        try:
            yield Completion((Text("So much for that."),), calls, Usage(), "end_turn")
        finally:  # nobody asks for more after a completion
            if not calls:
                self._wire.hang_up()


class Talkers(ModelRegistry):
    def __init__(self, env: Mapping[str, str], wire: Wire, works: bool) -> None:
        super().__init__(env)
        self._wire = wire
        self._works = works

    def open(self, model: str) -> Model:
        number = int(model.partition(":")[2])
        return Talker(number, self._wire, number * WORDS // SESSIONS + 1 if self._works else WORDS)


class TalkingHouse(App):
    wire: Wire
    works: bool

    def models(self, cwd: str) -> Models:
        return Talkers(self.env, self.wire, self.works)


class Watch:
    """One follower, and the worst delay of a word it saw."""

    def __init__(self, wire: Wire, model: int) -> None:
        self._wire = wire
        self._model = model
        self._words = 0
        self.worst = 0.0

    async def follow(self, host: Host, session: SessionId) -> None:
        async with aclosing(host.follow(session)) as feed:
            async for each in feed:
                match each:
                    case TextDelta(text=text):
                        due = self._wire.due_at(self._model, self._words)
                        self.worst = max(self.worst, time.monotonic() - due)
                        self._words += text.count(" ")
                    case Recorded(event=TurnEnded()):
                        break
                    case _:
                        pass
        assert self._words == WORDS


async def crowd(*, works: bool) -> dict[str, float]:
    house = TalkingHouse(load(os.environ))
    house.works, house.wire = works, Wire()
    wire, host = house.wire, house.open()
    began = time.monotonic()
    sessions = await asyncio.gather(*(start(host, number) for number in range(SESSIONS)))
    await wire.ready.wait()
    started = time.monotonic() - began
    watches = {number: Watch(wire, number) for number in FOLLOWED}
    async with asyncio.TaskGroup() as group:
        for number, watch in watches.items():
            group.create_task(watch.follow(host, sessions[number]))
        measured = await listen(wire)
        said = time.monotonic()
        await wire.over.wait()
        ended = time.monotonic() - said
    await house.close(host)
    return {**measured, "lag": max(each.worst for each in watches.values()), "start": started, "end": ended}


async def start(host: Host, number: int) -> SessionId:
    session = SessionId(new_id())
    await host.send(CreateSession(session=session, cwd=os.getcwd(), model=f"bench:{number}", by=BY))
    await host.send(SendPrompt(session=session, prompt_id=PromptId(new_id()), text="Talk to me.", by=BY))
    return session


async def floor() -> dict[str, float]:
    wire = Wire()
    async with asyncio.TaskGroup() as group:
        for number in range(SESSIONS):
            group.create_task(hear(Talker(number, wire)))
        await wire.ready.wait()
        return await listen(wire)


async def hear(model: Talker) -> None:
    async for _ in model.stream(_REQUEST):
        pass


async def listen(wire: Wire) -> dict[str, float]:
    """While the words come: how many are taken, and what it costs."""
    cpu = time.process_time()
    await wire.run()
    seconds = time.monotonic() - wire.began
    return {
        "words": wire.taken / seconds,
        "cores": (time.process_time() - cpu) / seconds,
        "memory": resident_mb(),
    }


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2


if __name__ == "__main__":
    kind, report = sys.argv[1:]
    work = floor() if kind == "floor" else crowd(works=kind == "work")
    Path(report).write_text(json.dumps(asyncio.run(work)))
