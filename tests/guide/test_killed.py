"""The guide's next step comes from the log alone: whoever opens a session that was cut off goes on with it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from coderelay.app import App
from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.asks import Allow, Answers, Ask, Decision, QuestionAsk
from coderelay.protocol.events import AnyEvent, CallEnded, CallStarted, Recorded
from coderelay.protocol.ids import SessionId, new_id
from coderelay.store.sqlite.store import SqliteStore
from tests.guide.guided_house import END, END_ZH, Guided
from tests.house import InHouse, house, story
from tests.model_server import script

PROCESS = str(Path(__file__).with_name("prompt_process.py"))
UNKNOWN = f"It was interrupted and may have run. Check before repeating it.{END}"
UNKNOWN_ZH = f"执行被中断，可能已经运行过。请先检查再重复。{END_ZH}"


@story
async def test_x25_killed_in_the_middle_of_a_command_and_carried_on_by_another(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    os.mkfifo(folder / "began")
    (folder / "Makefile").write_text("test:\n\t@echo once >> effects; echo > began; sleep 600\n")
    session = new_id()
    with subprocess.Popen([sys.executable, PROCESS, str(tmp_path), session, "run the tests"]) as process:
        with (folder / "began").open() as began:
            began.read()  # until the command is in its middle
        process.kill()
    async with house(tmp_path, script()) as coder:
        await coder.open(SessionId(session))
        assert (await coder.ended()).text == UNKNOWN
        assert await coder.story() == ["user: run the tests", "read: ok", "bash: unknown", f"agent: {UNKNOWN}"]
    assert (folder / "effects").read_text() == "once\n"


@pytest.mark.parametrize(
    ("prompt", "choice", "unknown"),
    [
        ("create file a.txt with hello", "", UNKNOWN),
        ("新建文件 a.txt", "hello", UNKNOWN_ZH),
        ("make it better", "run the tests", UNKNOWN),
    ],
    ids=["create", "create-zh", "unclear"],
)
@story
async def test_x25_a_log_that_ends_anywhere_is_carried_on(
    tmp_path: Path, prompt: str, choice: str, unknown: str
) -> None:
    """As if the process had been killed after each of its appends. What comes out is the same, except of a call that
    had started: nobody knows what became of it."""
    created = tmp_path / "first" / "work" / "a.txt"
    appends, text = await _whole(tmp_path / "first", prompt, choice)
    for cut in range(2, len(appends)):  # the session is there, and the prompt in it
        created.unlink(missing_ok=True)
        events = [each for append in appends[:cut] for each in append]
        root = tmp_path / f"cut{cut}"
        await _write(root, events)
        async with house(root, script()) as coder:
            await coder.open(events[0].session)
            said = await _to_the_end(coder, choice)
            assert said in ({text, unknown} if _is_cut_short(events) else {text})
            assert coder.server.received == []


class WatchedStore(SqliteStore):
    def __init__(self, path: str) -> None:
        super().__init__(path, SessionRows())
        self.appends: list[list[Recorded]] = []

    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        recorded = await super().append(session, at, events, epoch=epoch)
        self.appends.append(recorded)
        return recorded


class WatchedHouse(App):
    def store(self) -> WatchedStore:
        return WatchedStore(self.config.database)


async def _whole(root: Path, prompt: str, choice: str) -> tuple[list[list[Recorded]], str]:
    root.mkdir()
    async with house(root, script(), build=WatchedHouse) as coder:
        await Guided(coder).begin("default")
        await coder.prompt(prompt)
        text = await _to_the_end(coder, choice)
        assert isinstance(coder.host.store, WatchedStore)
        return coder.host.store.appends, text


async def _write(root: Path, events: Sequence[Recorded]) -> None:
    (root / "home").mkdir(parents=True)
    store = SqliteStore(str(root / "home" / "sessions.db"), SessionRows())
    for each in events:
        await store.append(each.session, each.seq - 1, [each.event])
    await store.close()


async def _to_the_end(coder: InHouse, choice: str) -> str:
    """Answer whatever is asked, until the turn has ended."""
    while True:
        record = await coder.host.load(coder.session)
        head = record.state.head
        if record.state.turn is None and record.state.last_ending is not None:
            return record.state.last_ending.text
        for ask in record.state.open_asks():
            await coder.answer(ask, _decision(ask, choice))
        await coder.until(lambda _: True, after=head)


def _decision(ask: Ask, choice: str) -> Decision:
    if not isinstance(ask, QuestionAsk):
        return Allow()
    question = ask.questions[0].question
    return Answers({question: "echo well" if "command" in question or "命令" in question else choice})


def _is_cut_short(events: Sequence[Recorded]) -> bool:
    started = [each for each in events if isinstance(each.event, CallStarted)]
    ended = {each.event.call_id for each in events if isinstance(each.event, CallEnded)}
    return any(isinstance(each.event, CallStarted) and each.event.call_id not in ended for each in started)
