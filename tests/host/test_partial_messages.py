"""X-13: `persist_partials`. With `always`, each piece of a message is one row, and the rows follow from the log."""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from coderelay.app import App
from coderelay.client.views.cowork_messages import rows
from coderelay.config.loaded_config import Config
from coderelay.protocol.commands import ForkSession
from coderelay.protocol.events import MessageAdded, PartialsKept, Recorded, TurnEnded, TurnStarted
from coderelay.protocol.external_agent_events import PartialBlock
from coderelay.protocol.ids import MessageId, SessionId, TurnId, new_id
from coderelay.protocol.live_updates import Live, TextDelta, ThinkingDelta
from coderelay.protocol.projected_rows import MessageRow
from coderelay.protocol.queries import ReadMessages
from tests.house import ME, InHouse, house, story
from tests.model_server import bash, cut_off, hangs, proposes, says, script, tokens

pytest_plugins = ["tests.postgres"]

Build = Callable[[Config, Mapping[str, str]], App]


@pytest.fixture(params=["sqlite", "postgres"])
def build(request: pytest.FixtureRequest) -> Build:
    if request.param == "sqlite":
        return App
    database: str = request.getfixturevalue("database")
    return lambda config, env: App(replace(config, database_url=database), env)


def keep(root: Path, partials: str = "always") -> None:
    (root / "home").mkdir(exist_ok=True)
    (root / "home" / "config.json").write_text(json.dumps({"persist_partials": partials}))


class Watcher:
    """Sees each piece as it is emitted; a feed joins them."""

    def __init__(self) -> None:
        self.live: list[TextDelta | ThinkingDelta] = []

    def wake(self) -> None: ...
    def fail(self, error: Exception) -> None: ...

    def show(self, live: Live) -> None:
        if isinstance(live, TextDelta | ThinkingDelta):
            self.live.append(live)


async def turn(coder: InHouse, turns: int = 1) -> list[TextDelta | ThinkingDelta]:
    """The nth turn, and the pieces that were emitted while it ran."""
    if not coder.session:
        await coder.create()
    watcher = Watcher()
    (await coder.host.load(coder.session)).followers.add(watcher)
    await coder.prompt("go")
    await coder.ended(turns)
    return watcher.live


async def stored(coder: InHouse) -> list[dict[str, Any]]:
    return [json.loads(row.data) for row in (await coder.host.get(ReadMessages(coder.session))).rows]


async def streamed(coder: InHouse) -> list[dict[str, Any]]:
    return [each["event"] for each in await stored(coder) if each["type"] == "stream_event"]


def outline(events: list[dict[str, Any]]) -> list[str]:
    """`+text 0` begins a block, `-0` ends it; what is between them is a piece."""
    lines: list[str] = []
    for event in events:
        match event:
            case {"type": "content_block_start", "index": index, "content_block": {"type": kind}}:
                lines.append(f"+{kind} {index}")
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}:
                lines.append(text)
            case {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": text}}:
                lines.append(text)
            case {"type": "content_block_stop", "index": index}:
                lines.append(f"-{index}")
            case _:
                raise AssertionError(event)
    return lines


@story
async def test_always_each_piece_is_a_row_before_its_message(tmp_path: Path, build: Build) -> None:
    keep(tmp_path)
    answers = script(
        proposes(bash("true"), text="I look now", thinking="hm, well"), says("all is done", token_delay=0.02)
    )
    async with house(tmp_path, answers, build=build) as coder:
        live = await turn(coder)
        assert live
        assert all(each.kept for each in live)
        thoughts = [each.text for each in live if isinstance(each, ThinkingDelta)]
        first = live[0].message_id
        said = [each for each in live if isinstance(each, TextDelta)]
        texts = [[each.text for each in said if (each.message_id == first) is one] for one in (True, False)]
        assert len(texts[1]) > 1
        wanted = ["+thinking 0", *thoughts, "-0", "+text 1", *texts[0], "-1", "+text 0", *texts[1], "-0"]
        assert outline(await streamed(coder)) == wanted
        kinds = [each["type"] for each in await stored(coder)]
        assert kinds.index("assistant") == kinds.index("stream_event") + len(thoughts) + len(texts[0]) + 4
        assert kinds[-3:] == ["stream_event", "assistant", "result"]
        before = await coder.host.get(ReadMessages(coder.session))
        assert len({row.id for row in before.rows}) == len(before.rows)
        assert [row for each in await coder.events() for row in rows(each)] == before.rows
        await coder.host.store.rebuild()
        assert await coder.host.get(ReadMessages(coder.session)) == before
        (started,) = [each.event for each in await coder.events() if isinstance(each.event, TurnStarted)]
        assert started.partials == "always"


@story
async def test_until_final_keeps_the_complete_messages_only(tmp_path: Path, build: Build) -> None:
    async with house(tmp_path, script(says("all is done")), build=build) as coder:
        live = await turn(coder)
        assert live
        assert not any(each.kept for each in live)
        assert await streamed(coder) == []
        assert [each for each in await coder.events() if isinstance(each.event, PartialsKept)] == []


@story
async def test_the_model_gets_the_same_history_either_way(tmp_path: Path) -> None:
    asked: list[object] = []
    for partials in ("always", "until_final"):
        root = tmp_path / "here"
        root.mkdir(exist_ok=True)
        keep(root, partials)
        async with house(root, script(says("one two", thinking="hm"), says("two"))) as coder:
            await turn(coder)
            await turn(coder, 2)
            asked.append(coder.server.requests[-1]["messages"])
    assert asked[0] == asked[1]


@pytest.mark.parametrize("retry", ["0", "5"])
@story
async def test_an_answer_that_broke_off_is_stopped_before_anything_else(tmp_path: Path, retry: str) -> None:
    def patient(config: Config, env: Mapping[str, str]) -> App:
        return App(config, {**env, "CODER_RETRY_SECONDS": retry})

    keep(tmp_path)
    answers = script(cut_off(says("one two three", token_delay=0.02), 3), says("four"))
    async with house(tmp_path, answers, build=patient) as coder:
        await turn(coder)
        again = [] if retry == "0" else ["+text 0", "four", "-0"]
        assert outline(await streamed(coder)) == ["+text 0", "one", " two", "-0", *again]
        kept = [each.event for each in await coder.events() if isinstance(each.event, PartialsKept)]
        assert len({each.message_id for each in kept}) == 1 + bool(again)


@pytest.mark.parametrize("answer", [says("one two three"), says("x", thinking="one two three")])
@story
async def test_b59_a_stop_in_mid_answer_keeps_what_was_shown(tmp_path: Path, answer: Any) -> None:
    keep(tmp_path)
    async with house(tmp_path, script(hangs(answer, 3))) as coder:
        await coder.create()
        await coder.prompt("go")
        await coder.until(lambda event: isinstance(event, PartialsKept))
        await coder.stop()
        await coder.ended()
        told = outline(await streamed(coder))
        assert told[0] in ("+text 0", "+thinking 0")
        assert told[-1] == "-0"
        events = [each.event for each in await coder.events()]
        last = max(place for place, each in enumerate(events) if isinstance(each, PartialsKept))
        assert all(place > last for place, each in enumerate(events) if isinstance(each, MessageAdded | TurnEnded))


@story
async def test_another_process_stops_the_block_that_a_killed_one_left_open(tmp_path: Path) -> None:
    keep(tmp_path)
    async with house(tmp_path, script(says("done"))) as coder:
        await coder.create()
        await coder.prompt("go")
        await coder.ended()
        record = await coder.host.load(coder.session)
        head = record.state.head
        started = next(each.event for each in await coder.events() if isinstance(each.event, TurnStarted))
        block = PartialBlock(1, "text", ("half an ",), starts=True)
        cut = PartialsKept(turn_id=started.turn_id, message_id=MessageId("cut"), blocks=(block,))
        killed = SessionId(new_id())
        log = [each.event for each in (await coder.events()) if each.seq < head]
        log = [each for each in log if not isinstance(each, MessageAdded | PartialsKept)]
        await coder.host.store.append(killed, 0, [*log, cut])  # its owner does not live
    async with house(tmp_path, script(says("whole"))) as again:
        await again.open(killed)
        await again.ended()
        assert outline(await streamed(again)) == ["+text 1", "half an ", "-1", "+text 0", "whole", "-0"]


@story
async def test_a_fork_leaves_the_pieces_behind(tmp_path: Path) -> None:
    keep(tmp_path)
    async with house(tmp_path, script(says("all is done"))) as coder:
        await turn(coder)
        fork = SessionId(new_id())
        await coder.host.send(ForkSession(session=coder.session, to=fork, by=ME))
        coder.session = fork
        assert [each["type"] for each in await stored(coder)].count("assistant") == 1
        assert await streamed(coder) == []


@story
async def test_a_long_answer_is_appended_in_groups(tmp_path: Path) -> None:
    keep(tmp_path)
    async with house(tmp_path, script(tokens(20_000))) as coder:
        live = await turn(coder)
        kept = [each.event for each in await coder.events() if isinstance(each.event, PartialsKept)]
        assert len(kept) < 200
        assert outline(await streamed(coder))[1:-1] == [each.text for each in live]


def test_rows_are_a_function_of_one_event() -> None:
    block = PartialBlock(2, "thinking", ("a", "b"), stops=True)
    event = PartialsKept(turn_id=TurnId("t"), message_id=MessageId("m"), blocks=(block,))
    made = rows(Recorded(SessionId("s"), 7, 1, 0, event))
    assert made == rows(Recorded(SessionId("s"), 7, 1, 99, event))
    assert [json.loads(row.data)["uuid"] for row in made] == [row.id for row in made]
    assert outline([json.loads(row.data)["event"] for row in made]) == ["a", "b", "-2"]
    assert json.loads(made[0].data) == {
        "type": "stream_event",
        "uuid": made[0].id,
        "session_id": "s",
        "parent_tool_use_id": None,
        "event": {"type": "content_block_delta", "index": 2, "delta": {"type": "thinking_delta", "thinking": "a"}},
    }
    assert isinstance(made[0], MessageRow)


@story
async def test_another_process_sees_the_live_pieces_without_a_hole(tmp_path: Path) -> None:
    """The events with the pieces reach it before the pieces do, and must not void them."""
    keep(tmp_path)
    words = [f" w{number}" for number in range(40)]
    answer = says("".join(words), token_delay=0.1)
    async with house(tmp_path, script(hangs(answer, 41))) as coder, house(tmp_path, script()) as other:
        await coder.create()
        other.session = coder.session
        heard = ""
        async with asyncio.timeout(60), aclosing(other.host.follow(other.session)) as feed:
            await coder.prompt("go")
            async for each in feed:
                heard += each.text if isinstance(each, TextDelta) else ""
                if words[30] in heard:
                    break
        assert heard in "".join(words)
        assert len(heard.split()) > 10
        await coder.stop()
        await coder.ended()
