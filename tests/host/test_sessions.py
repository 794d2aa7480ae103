"""Sessions in one or several processes: queue, stop, delete, take over, follow."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from coderelay.client.views.cowork_messages import rows
from coderelay.host.turn_lent_to_agent import AgentTurn
from coderelay.protocol.asks import Allow, By, Deny, DenyAndStop
from coderelay.protocol.calls import Stopped
from coderelay.protocol.commands import Accepted, Answered, RecallPrompt, Unchanged
from coderelay.protocol.errors import Fenced, UnknownAsk, UnknownSession
from coderelay.protocol.events import (
    CallEnded,
    CallStarted,
    MessageAdded,
    Recorded,
    SessionClaimed,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import AskId, MessageId, OwnerId, PromptId, SessionId, TurnId
from coderelay.protocol.live_updates import TextDelta
from coderelay.protocol.message_content import Text
from coderelay.protocol.queries import ExportSession, ListSessions, ReadMessages, ShowSession
from coderelay.session.next_action import Wait
from coderelay.testing.model_server import without_notes
from tests.house import ME, InHouse, house, story
from tests.model_server import bash, by_history, hangs, http_error, proposes, read, says, script, write

pytestmark = pytest.mark.quick


@story
async def test_a_turn_from_prompt_to_end(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash("echo hi")), says("built"))) as coder:
        await coder.prompt("build it")
        assert (await coder.ended()).text == "built"
        assert await coder.story() == ["user: build it", "bash: ok", "agent: built"]


@story
async def test_x08_prompts_sent_while_busy_are_queued_and_run_in_order(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"), says("two"), says("three"))) as coder:
        for text in ("a", "b", "c"):
            assert isinstance(await coder.prompt(text), Accepted)
        await coder.ended(turns=3)
        assert await coder.story() == [
            "user: a",
            "agent: one",
            "user: b",
            "agent: two",
            "user: c",
            "agent: three",
        ]


@story
async def test_the_same_prompt_sent_twice_is_admitted_once(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"))) as coder:
        assert isinstance(await coder.prompt("a", "same"), Accepted)
        assert isinstance(await coder.prompt("a", "same"), Unchanged)
        await coder.ended()
        assert await coder.story() == ["user: a", "agent: one"]


@story
async def test_x12_after_a_stop_the_queue_waits_for_the_person(tmp_path: Path) -> None:
    async with house(tmp_path, script(hangs(says("one two"), 1), says("b"), says("c"))) as coder:
        await coder.prompt("first")
        await coder.server.wait_for_requests(1)
        await coder.prompt("second")
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        summary = await coder.summary()
        assert summary is not None
        assert (summary.phase, summary.queued) == ("stopped", 1)
        await coder.prompt("third")
        await coder.ended(turns=3)
        asked = [without_notes(each["messages"][-1]["content"]) for each in coder.server.requests]
        assert [text.split("\n")[-1] for text in asked] == ["first", "second", "third"]


@story
async def test_b24_b44_a_stop_without_a_turn_changes_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"))) as coder:
        await coder.prompt("a")
        await coder.ended()
        assert isinstance(await coder.stop(), Unchanged)
        await coder.until(lambda event: isinstance(event, TurnEnded))


@story
async def test_b52_states_of_a_session(tmp_path: Path) -> None:
    """idle, then running, then completed, error or idle again; each as the table of 1.7 names it."""
    async with house(tmp_path, script(says("x"), http_error(400, "no"), hangs(says("x y"), 1))) as coder:
        await coder.create()
        phases = [await _phase(coder)]
        for turn, wait in enumerate((True, True, False), 1):
            await coder.prompt("go")
            if not wait:
                await coder.server.wait_for_requests(3)
                phases.append(await _phase(coder))
                await coder.stop()
            await coder.ended(turns=turn)
            phases.append(await _phase(coder))
        assert phases == ["idle", "done", "failed", "running", "stopped"]


async def _phase(coder: InHouse) -> str:
    summary = await coder.summary()
    assert summary is not None
    return summary.phase


@story
async def test_b25_deleting_a_running_session_stops_it_and_leaves_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash("touch began; sleep 600")))) as coder:
        await coder.prompt("go")
        await coder.until(lambda event: isinstance(event, CallStarted))
        feed = coder.host.follow(coder.session)
        async with aclosing(feed):
            seen = [await anext(feed)]
            assert isinstance(await coder.delete(), Accepted)
            seen += [each async for each in feed]
        assert isinstance(seen[-1], Recorded)
        assert isinstance(seen[-1].event, SessionDeleted)
        assert await coder.host.get(ListSessions()) == []
        with pytest.raises(UnknownSession):
            await coder.host.get(ReadMessages(coder.session))
        with pytest.raises(UnknownSession):
            await coder.prompt("more")
        assert isinstance(await coder.delete(), Unchanged)


@story
async def test_promise_6_history_says_from_where_to_follow(tmp_path: Path) -> None:
    """B-42: whoever reads the history while a turn runs and follows it from there misses no message, and sees none
    twice."""
    async with house(tmp_path, script(proposes(bash("until [ -e go ]; do sleep 0.01; done")), says("one"))) as coder:
        await coder.prompt("go")
        await coder.until(lambda event: isinstance(event, CallStarted))
        history = await coder.host.get(ReadMessages(coder.session))
        (coder.folder / "go").touch()
        await coder.ended()
        whole = await coder.host.get(ReadMessages(coder.session))
        later = [row for each in await coder.events() if each.seq > history.seq for row in rows(each)]
        assert history.rows
        assert [*history.rows, *later] == whole.rows
        assert whole.seq == (await coder.events())[-1].seq


@story
async def test_promise_6_every_cursor_gives_the_rest_without_gap_or_repeat(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash("true"), read("x")), says("one"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        whole = await coder.events()
        assert [each.seq for each in whole] == list(range(1, len(whole) + 1))
        for cursor in range(len(whole)):
            async with aclosing(coder.host.follow(coder.session, cursor)) as feed:
                rest = [await anext(feed) for _ in whole[cursor:]]
            assert rest == whole[cursor:]


@story
async def test_live_pieces_come_before_the_message_they_belong_to(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one two three", token_delay=0.002))) as coder:
        await coder.create()
        seen: list[object] = []
        async with aclosing(coder.host.follow(coder.session)) as feed:
            await coder.prompt("go")
            async for each in feed:
                seen.append(each)
                if isinstance(each, Recorded) and isinstance(each.event, TurnEnded):
                    break
        live = [place for place, each in enumerate(seen) if isinstance(each, TextDelta)]
        kinds = [type(each.event).__name__ for each in seen if isinstance(each, Recorded)]
        assert "".join(each.text for each in seen if isinstance(each, TextDelta)) == "one two three"
        assert kinds == [
            "SessionCreated",
            "PromptAdmitted",
            "SessionClaimed",
            "TurnStarted",
            "MessageAdded",
            "TurnEnded",
        ]
        started = next(i for i, e in enumerate(seen) if isinstance(e, Recorded) and isinstance(e.event, TurnStarted))
        assert started < live[0]
        assert live[-1] == len(seen) - 3


@story
async def test_two_processes_one_session_only_one_runs_and_both_see_it(tmp_path: Path) -> None:
    either = by_history(lambda said: says("two" if any(each.role == "assistant" for each in said) else "one"))
    async with house(tmp_path, either) as first, house(tmp_path, either) as second:
        await first.create()
        async with aclosing(first.host.follow(first.session)) as attending:
            await anext(attending)
            await first.prompt("a")
            await second.open(first.session)
            assert (await second.ended()).text == "one"
            await first.prompt("b")
            assert (await second.ended(turns=2)).text == "two"
            assert await second.events() == await first.events()
        assert len(first.server.requests) + len(second.server.requests) == 2


@story
async def test_a_stop_from_another_process_ends_the_command(tmp_path: Path) -> None:
    async with (
        house(tmp_path, script(proposes(bash("touch began; sleep 600")))) as first,
        house(tmp_path, script()) as second,
    ):
        await first.prompt("go")
        await first.until(lambda event: isinstance(event, CallStarted))
        await second.open(first.session)
        assert isinstance(await second.stop(), Accepted)
        assert (await second.ended()).ending == "stopped"
        assert await second.story() == ["user: go", "bash: stopped", "(stopped)"]


@story
async def test_a_call_stopped_before_its_tool_got_it_is_known_not_to_have_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was started in the append of its message, so the log alone cannot tell."""

    async def never_reached(turn: AgentTurn, calls: object, effect: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(AgentTurn, "perform", never_reached)
    async with house(tmp_path, script(proposes(bash("touch made")))) as coder:
        await coder.prompt("go")
        await coder.until(lambda event: isinstance(event, CallStarted))
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        ends = [each.event.outcome for each in await coder.events() if isinstance(each.event, CallEnded)]
        assert ends == [Stopped(started=False)]


@story
async def test_an_owner_that_leaves_is_followed_by_an_attending_process(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("carried on"))) as second:
        async with house(tmp_path, script(proposes(bash("touch began; sleep 600")))) as first:
            await first.prompt("go")
            await first.until(lambda event: isinstance(event, CallStarted))
            await second.open(first.session)
        assert (await second.ended()).text == "carried on"
        assert await second.story() == ["user: go", "bash: unknown", "agent: carried on"]


@story
async def test_promise_4_an_answer_counts_once_and_the_loser_is_told(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(write("a", "x")), says("done"))) as coder:
        await coder.create("default")
        await coder.prompt("go")
        (ask,) = await coder.asks()
        first, second = await asyncio.gather(
            coder.answer(ask, Allow(), By("ann", "web")), coder.answer(ask, Deny(), By("bob", "chat"))
        )
        assert isinstance(first, Accepted)
        assert second == Answered(Allow(), By("ann", "web"), second.head)
        await coder.ended()
        late = await coder.answer(ask, Deny())
        assert late == Answered(Allow(), By("ann", "web"), late.head)
        with pytest.raises(UnknownAsk):
            await coder.answer(AskId("no such"))


@story
async def test_x03_deny_and_stop_denies_all_and_ends_the_turn(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(write("a", "x"), write("b", "x")), says("no"))) as coder:
        await coder.create("default")
        await coder.prompt("go")
        asks = await coder.asks()
        await coder.answer(asks[1], DenyAndStop())
        assert (await coder.ended()).ending == "stopped"
        assert await coder.story() == ["user: go", "write: stopped", "write: stopped", "(stopped)"]
        late = await coder.answer(asks[0])
        assert late == Answered(None, None, late.head)
        assert list(coder.folder.glob("[!.]*")) == []


@story
async def test_an_ask_stops_when_the_person_stops(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(write("a", "x")))) as coder:
        await coder.create("default")
        await coder.prompt("go")
        await coder.asks()
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        await coder.until(lambda event: isinstance(event, StopRequested))


@story
async def test_a_session_exports_in_the_form_of_its_snapshot(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"))) as coder:
        await coder.prompt("a")
        await coder.ended()
        exported = await coder.host.get(ExportSession(coder.session))
        assert [each["role"] for each in exported["messages"]] == ["system", "user", "assistant"]
        with pytest.raises(UnknownSession):
            await coder.host.get(ShowSession(SessionId("nope")))


@story
async def test_by_is_kept_with_what_was_done(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"))) as coder:
        await coder.prompt("a")
        await coder.ended()
        by = [getattr(each.event, "by", None) for each in await coder.events()]
        assert by[:2] == [ME, ME]


@story
async def test_live_text_reaches_another_process_and_one_that_comes_late(tmp_path: Path) -> None:
    text = " ".join(f"word{n}" for n in range(60))
    async with (
        house(tmp_path, script(says(text, token_delay=0.03))) as first,
        house(tmp_path, script()) as second,
    ):
        await first.prompt("talk")
        await first.server.wait_for_requests(1)
        second.session = first.session
        heard = ""
        async with aclosing(second.host.follow(first.session)) as feed:
            async for each in feed:
                if isinstance(each, TextDelta):
                    heard += each.text
                if isinstance(each, Recorded) and isinstance(each.event, TurnEnded):
                    break
        assert text.startswith(heard)
        assert len(heard) > len(text) / 2


@story
async def test_the_file_of_live_text_may_be_deleted_at_any_time(tmp_path: Path) -> None:
    async with (
        house(tmp_path, script(says("one two three " * 20, token_delay=0.02))) as first,
        house(tmp_path, script()) as second,
    ):
        await first.prompt("talk")
        second.session = first.session
        async with aclosing(second.host.follow(first.session)) as feed:
            async for each in feed:
                if isinstance(each, TextDelta):
                    for path in (tmp_path / "home").glob("live.db*"):
                        path.unlink(missing_ok=True)
                if isinstance(each, Recorded) and isinstance(each.event, TurnEnded):
                    break
        assert (await second.ended()).ending == "done"


@story
async def test_b44_a_stop_before_the_turn_has_begun_is_not_lost(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("later"))) as coder:
        await coder.create()
        await coder.prompt("go")
        assert isinstance(await coder.stop(), Accepted)
        await coder.prompt("go on")
        await coder.ended()
        assert (await coder.story())[0] == "user: go"


@story
async def test_a_recalled_prompt_never_runs(tmp_path: Path) -> None:
    async with house(tmp_path, script(hangs(says("one two"), 1), says("third"))) as coder:
        await coder.prompt("first")
        await coder.server.wait_for_requests(1)
        await coder.prompt("second", "recalled")
        recall = RecallPrompt(session=coder.session, prompt_id=PromptId("recalled"), by=ME)
        assert isinstance(await coder.host.send(recall), Accepted)
        assert isinstance(await coder.host.send(recall), Unchanged)
        await coder.prompt("third")
        await coder.stop()
        await coder.prompt("fourth")
        await coder.ended(turns=2)
        assert [line for line in await coder.story() if line.startswith("user")] == ["user: first", "user: third"]


@story
async def test_x25_a_claim_that_another_has_overtaken_writes_nothing(tmp_path: Path) -> None:
    """Symptom: paused right after its claim, a process took the next owner's epoch for its own and both ran the
    same call."""
    async with house(tmp_path, script(says("mine"))) as coder:
        await coder.create()
        record = await coder.host.load(coder.session)
        me, other = OwnerId("me"), OwnerId("other")
        started = TurnStarted(
            turn_id=TurnId("t"),
            prompt_id=PromptId("p"),
            text="go",
            agent="native",
            model="openai:scripted",
            mode="yolo",
            cwd=str(coder.folder),
            max_steps=9,
        )
        mine = await record.append(lambda _: [SessionClaimed(owner=me, epoch=1), started])
        turn = AgentTurn(record, mine[-1].epoch, me, coder.host.context, coder.host.send)
        await record.append(lambda _: [SessionClaimed(owner=other, epoch=2)])
        assert turn.next_action() == Wait()
        message = MessageAdded(message_id=MessageId("m"), turn_id=TurnId("t"), model="m", blocks=(Text("hi"),))
        with pytest.raises(Fenced):
            await turn.add(message, [], final=True)
