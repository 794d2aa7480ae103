"""A fork: a new session that begins with the conversation of another, and whose log is its own. Each of the two is as
linear as any session (C-31, X-26)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coderelay.protocol.asks import Allow
from coderelay.protocol.commands import DeleteSession, ForkSession, SendPrompt, UndoTurn
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import SessionForked
from coderelay.protocol.ids import PromptId, SessionId, new_id
from coderelay.protocol.queries import ListApprovals, ListBackground, ListChildren, ListPrompts, ShowSession
from coderelay.session.fold import fold
from tests.children.conversations import conversations, seen_from, task
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.host.test_undo import files, repository
from tests.house import ME, InHouse, house, story
from tests.log_checker import check_settled, read_logs
from tests.model_server import ModelServerThread, by_history, call, hangs, proposes, read, says, script, write
from tests.terminal.repl import repl, settle

CoderOn = Callable[[ModelServerThread], Coder]


async def fork(coder: InHouse, title: str = "") -> InHouse:
    new = SessionId(new_id())
    await coder.host.send(ForkSession(session=coder.session, to=new, title=title, by=ME))
    return seen_from(coder, new)


def said(request: dict[str, Any]) -> list[Any]:
    return request["messages"]


@story
async def test_both_go_on_by_themselves_from_the_same_conversation(tmp_path: Path) -> None:
    answers = [
        proposes(read("a.txt")),
        says("it says hello"),
        says("in the fork"),
        says("in the first"),
        says("alone"),
    ]
    async with house(tmp_path, script(*answers)) as coder:
        (coder.folder / "a.txt").write_text("hello\n")
        await coder.prompt("look")
        await coder.ended()
        first = await coder.story()
        forked = await fork(coder, "another way")
        assert await forked.story() == first
        assert await coder.story() == first, "nothing is written to the log that was copied"
        await forked.prompt("go on here")
        await forked.ended(2)
        await coder.prompt("go on there")
        await coder.ended(2)
        requests = coder.server.requests
        before = said(requests[1])
        assert said(requests[2])[: len(before)] == before, "the provider's cache is of use"
        assert said(requests[3])[: len(before)] == before
        assert "go on here" not in str(said(requests[3]))
        assert await forked.story() == [*first, "user: go on here", "agent: in the fork"]
        row = await coder.host.get(ShowSession(forked.session))
        assert (row.title, row.phase, row.cwd) == ("another way", "done", str(coder.folder))
        await coder.host.send(DeleteSession(session=coder.session, by=ME))
        await forked.prompt("still there")
        await forked.ended(3)
        assert (await forked.story())[-1] == "agent: alone"
    check_settled(read_logs(tmp_path / "home" / "sessions.db")[forked.session])


@story
async def test_what_is_not_conversation_stays_behind(tmp_path: Path) -> None:
    look = "Look."
    talk = conversations(
        parent=[
            proposes(write("a", "1\n"), task("look", look), call("bash", command="sleep 600", background=True)),
            says("done"),
        ],
        children={look: [says("seen")]},
    )
    async with house(tmp_path, by_history(talk)) as coder:
        repository(coder.folder)
        before = files(coder.folder)
        await coder.create("default")
        await coder.prompt("go")
        for ask in await coder.asks():
            await coder.answer(ask.id, Allow("session"))
        await coder.ended()
        assert await coder.host.get(ListApprovals(coder.session)) != []
        forked = await fork(coder)
        assert await coder.host.get(ListApprovals(forked.session)) == []
        assert await coder.host.get(ListBackground(forked.session)) == []
        assert await coder.host.get(ListChildren(forked.session)) == []
        with pytest.raises(BadInput, match="undo"):
            await coder.host.send(UndoTurn(session=forked.session, by=ME))
        row = await coder.host.get(ShowSession(forked.session))
        assert (row.cost, row.usage.input_tokens, row.day_cost, row.background, row.children) == (None, 0, 0.0, 0, 0)
        assert row.context_tokens > 0
        await coder.host.store.rebuild()
        assert await coder.host.get(ShowSession(forked.session)) == row, "rows are projections of the log"
        folded = fold(forked.session, await forked.events())
        assert (folded.cost, folded.past, folded.background, folded.approvals) == (None, [], {}, {})
        await coder.host.send(DeleteSession(session=forked.session, by=ME))
        assert len(await coder.host.get(ListChildren(coder.session))) == 1
        await coder.host.send(UndoTurn(session=coder.session, by=ME))
        assert files(coder.folder) == before


@story
async def test_the_turn_that_runs_and_what_waits_are_not_copied(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"), hangs(says("two words"), 1))) as coder:
        await coder.prompt("first")
        await coder.ended()
        await coder.prompt("second")
        await coder.host.send(SendPrompt(session=coder.session, prompt_id=PromptId("later"), text="third", by=ME))
        forked = await fork(coder)
        assert await forked.story() == ["user: first", "agent: one"]
        assert await coder.host.get(ListPrompts(forked.session)) == []
        assert (await coder.host.get(ShowSession(forked.session))).queued == 0
        last = (await forked.events())[-1].event
        assert isinstance(last, SessionForked)
        assert last.of == coder.session
        await coder.stop()


@story
async def test_a_session_is_forked_into_a_new_one_only(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"))) as coder:
        await coder.prompt("first")
        await coder.ended()
        with pytest.raises(BadInput, match="already exists"):
            await coder.host.send(ForkSession(session=coder.session, to=coder.session, by=ME))
        empty = InHouse(coder.host, coder.server, coder.folder)
        await empty.create()
        assert await (await fork(empty)).story() == []


def test_x26_a_person_forks_at_the_terminal_and_is_told_what_is_not_copied(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("hi there"), says("elsewhere")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter("hello")
        settle(terminal, "hi there")
        terminal.enter("/fork")
        seen = settle(terminal, "not copied: approvals, undo of earlier turns, background commands, queued prompts")
        assert "forked: you are now in session " in seen.all_text
        terminal.enter("and on")
        settle(terminal, "elsewhere")
    assert len(read_logs(coder.home / "sessions.db")) == 2
    assert "hello (fork)" in coder.run("sessions").out
    assert [str(each["content"]).splitlines()[-1] for each in server.requests[-1]["messages"][1:]] == [
        "hello",
        "hi there",
        "and on",
    ]
