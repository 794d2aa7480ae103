"""An answer for more than one call, and the asks beside it that it covers: one append (C-35, D-02, D-03)."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from coderelay.protocol.asks import Allow, Scope
from coderelay.protocol.event_codec import kind_of
from coderelay.protocol.events import ApprovalGranted, AskAnswered, BatchResumed
from coderelay.protocol.queries import ListApprovals
from coderelay.session.state import State
from tests.asks.scene import Scene
from tests.coder_process import Coder
from tests.house import house, story
from tests.log_checker import check_settled
from tests.model_server import Answer, History, bash, by_history, model_server_thread, proposes, says, script, write

TOUCHES = [bash(f"touch {name}") for name in ("one", "two", "three")]


@pytest.mark.quick
@pytest.mark.parametrize("scope", ["session", "project", "person"])
@story
async def test_c35_d02_what_an_answer_covers_is_answered_in_the_same_append(tmp_path: Path, scope: Scope) -> None:
    """Otherwise somebody who follows is asked for a moment what was answered just now."""
    async with house(tmp_path, script(proposes(*TOUCHES, write("kept", "x")), says("done"))) as coder:
        await coder.create("default")
        await coder.prompt("go")
        asks = await coder.asks()
        record, seen = await coder.host.load(coder.session), list[tuple[int, int]]()

        def look(state: State) -> None:  # called once for every append
            seen.append((state.head, len(state.open_asks())))

        record.watchers.add(look)
        head = record.state.head
        await coder.answer(asks[0], Allow(scope))
        record.watchers.discard(look)
        (whole,) = seen
        in_session = scope == "session"
        assert whole == (head + (4 if in_session else 3), 1)
        events = [each.event for each in await coder.events() if each.seq > head]
        first, *others = [each for each in events if isinstance(each, AskAnswered)]
        assert (first.ask_id, first.decision) == (asks[0].id, Allow(scope))
        assert [(each.ask_id, each.decision) for each in others] == [(each.id, Allow()) for each in asks[1:3]]
        assert in_session == any(isinstance(each, ApprovalGranted) for each in events)
        assert [each.id for each in await coder.host.get(ListApprovals(coder.session))] == [asks[0].id]
        await coder.answer(asks[3], Allow())
        await coder.ended()


@pytest.mark.quick
@story
async def test_c35_d03_an_answer_that_covers_all_resumes_the_batch_once(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(*TOUCHES), says("done"))) as coder:
        await coder.create("default")
        await coder.prompt("go")
        asks = await coder.asks()
        await coder.answer(asks[1], Allow("session"))
        await coder.ended()
        log = [each.event for each in await coder.events()]
        answered = next(place for place, each in enumerate(log) if isinstance(each, AskAnswered))
        kinds = ["ask.answered", "approval.granted", "ask.answered", "ask.answered", "batch.resumed"]
        assert [kind_of(each) for each in log[answered : answered + 5]] == kinds
        assert sum(isinstance(each, BatchResumed) for each in log) == 1
        assert all((coder.folder / name).exists() for name in ("one", "two", "three"))


def three_touches(history: History) -> Answer:
    return says("done") if any(said.role == "tool" for said in history) else proposes(*TOUCHES)


@pytest.fixture
def touching(tmp_path: Path) -> Generator[Scene]:
    folder = tmp_path / "work"
    folder.mkdir()
    with model_server_thread(by_history(three_touches)) as server:
        yield Scene(Coder(tmp_path / "home", folder, server.base_url), server)


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("word", ["always", "project"])
def test_c35_d24_killed_around_such_an_answer_nobody_is_asked_half(touching: Scene, side: str, word: str) -> None:
    asks = touching.open()
    assert len(asks) == 3
    ran = touching.answer(asks[0], word, CODER_CRASH=f"{side}:ask.answered:1")
    assert ran.code == -9
    left = touching.asks()
    assert left == (asks if side == "before" else [])
    granted = len(touching.kinds("approval.granted"))
    assert granted == (1 if (side, word) == ("after", "always") else 0)
    for ask in left[:1]:
        touching.answer(ask, "always")
    (row,) = touching.coder.run("sessions", "list", "--json").out.splitlines()
    touching.run("resume", json.loads(row)["id"])
    check_settled(touching.log())
    assert all((touching.coder.cwd / name).exists() for name in ("one", "two", "three"))
