"""What clients are shown of a session: everything once, in order, wherever they come in."""

import json
import random
from pathlib import Path

import pytest

from coderelay.protocol.asks import Allow
from coderelay.protocol.queries import ReadMessages
from coderelay.surfaces.web.all_sessions_broadcast import BroadcastOptions
from tests.house import house, story
from tests.model_server import bash, by_history, call, hangs, proposes, says, script
from tests.model_server.answers import Answer
from tests.model_server.wire_form import History
from tests.web.browser import Event, Page, Site, serving, web

TEXT = " ".join(f"word{number}" for number in range(60))


@story
async def test_b57_a_client_that_comes_in_the_middle_of_a_text_sees_all_of_it(tmp_path: Path) -> None:
    async with web(tmp_path, script(hangs(says(TEXT), after_pieces=40))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="talk", mode="default")
        session = (await page.until("session.status"))["sessionId"]
        while len(shown_text(page)) < 200:
            await page.next()
        async with site.client() as late:
            history = await late.ask("session.history", "session.history", sessionId=session)
            assert [each["type"] for each in history["messages"]] == ["user_prompt", "system"]
            first = await late.until("stream.message")
            assert first["message"]["event"]["type"] == "content_block_start"
            await late.until("stream.message")
            while len(shown_text(late)) < len(shown_text(page)):
                await late.next()
            assert TEXT.startswith(shown_text(late))
            assert len(shown_text(late)) >= 200
        await page.send("session.stop", sessionId=session)
        await page.until("session.status", status="idle")


@pytest.mark.parametrize("persist", ["until_final", "always"])
@story
async def test_x13_what_is_shown_is_a_function_of_the_log(tmp_path: Path, persist: str) -> None:
    """B-56: with `always`, each stream_event is a row of the history, and comes from the log."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text(json.dumps({"persist_partials": persist}))
    async with web(tmp_path, script(says(TEXT))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="talk")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        assert "".join(_deltas(page)) == TEXT
        shown = [e["payload"] for e in page.seen if e["type"] == "stream.message"]
        history = await page.ask("session.history", "session.history", sessionId=session)
        stored = [each for each in history["messages"] if each["type"] != "user_prompt"]
        if persist == "always":
            assert [each["message"] for each in shown] == stored
            assert all("seq" in each for each in shown)
        else:
            assert [each["message"] for each in shown if "seq" in each] == stored
            assert not any(each["type"] == "stream_event" for each in stored)


def _deltas(page: Page) -> list[str]:
    events = [e["payload"]["message"].get("event", {}) for e in page.seen if e["type"] == "stream.message"]
    return [each["delta"]["text"] for each in events if each.get("type") == "content_block_delta"]


@pytest.mark.parametrize("seed", range(6))
@story
async def test_a_feed_cut_anywhere_goes_on_without_gap_or_repeat(tmp_path: Path, seed: int) -> None:
    """Promise 6: compared with a client that never lost its connection, and with the log."""
    cuts = random.Random(seed)
    async with web(tmp_path, by_history(_job)) as site, site.client() as steady:
        await steady.send("session.start", title="t", prompt="turn 1", mode="yolo")
        session = (await steady.until("session.status"))["sessionId"]
        got: list[Event] = []
        for turn in range(2, 5):
            while not _is_over(got, turn - 1):
                got += await _part(site, session, got, cuts.randrange(1, 9))
            await steady.until("session.status", status="completed")
            if turn < 4:
                await steady.send("session.continue", sessionId=session, prompt=f"turn {turn}")
        assert got == [each for each in steady.seen if "seq" in each["payload"]]
        rows = (await site.host.get(ReadMessages(session))).rows
        assert [each["payload"]["message"] for each in got if each["type"] == "stream.message"] == [
            data for row in rows if (data := json.loads(row.data))["type"] != "user_prompt"
        ]


async def _part(site: Site, session: str, got: list[Event], count: int) -> list[Event]:
    """What a new connection is shown after what the client has, until it is cut after some events."""
    after, part = _cursor(got)
    async with site.client() as page:
        await page.send("session.follow", sessionId=session, afterSeq=after, afterPart=part)
        await page.until("session.following")
        mine: list[Event] = []
        while len(mine) < count and not _is_over(got + mine, 3):
            event = await page.next()
            if "seq" in event["payload"] and event["type"] != "session.followed":
                mine.append(event)
            if _is_over(got + mine, sum(map(_starts, got + mine))):
                break
        return mine


def _cursor(got: list[Event]) -> tuple[int, int]:
    if not got:
        return 0, 0
    last = got[-1]["payload"]
    if last.get("part", 0) == last.get("parts", 1) - 1:
        return last["seq"], 0
    return last["seq"] - 1, last["part"] + 1


def _starts(event: Event) -> bool:
    return event["type"] == "session.status" and event["payload"]["status"] == "running"


def _is_over(got: list[Event], turns: int) -> bool:
    ended = [e for e in got if e["type"] == "session.status" and e["payload"]["status"] == "completed"]
    return len(ended) >= turns


def _job(history: History) -> Answer:
    """Each turn runs two commands and says something."""
    steps = [each for each in history if each.role == "assistant"]
    return says(TEXT) if len(steps) % 2 else proposes(bash("echo one"), bash("echo two"))


@story
async def test_b09_every_session_of_every_process_is_shown_unasked(tmp_path: Path) -> None:
    """Two servers and a terminal on one log: what one asks, any other answers."""
    answers = script(proposes(bash("touch made")), says("made it"))
    async with (
        house(tmp_path, answers) as terminal,
        house(tmp_path, script()) as second,
        serving(terminal.host, BroadcastOptions(cwd=str(tmp_path))) as one,
        serving(second.host, BroadcastOptions(cwd=str(tmp_path))) as two,
        Site(terminal, one).client() as page,
        Site(second, two).client() as other,
    ):
        await terminal.create(mode="default")
        await terminal.prompt("make it")
        request = await other.until("permission.request")
        assert request == await page.until("permission.request")
        assert request["sessionId"] == terminal.session
        where = {"sessionId": request["sessionId"], "toolUseId": request["toolUseId"]}
        await other.send("permission.response", **where, result={"behavior": "allow"})
        await page.until("session.status", status="completed")
        await other.until("session.status", status="completed")
        assert page.story(terminal.session) == other.story(terminal.session)
        assert (terminal.folder / "made").exists()


@story
async def test_a_late_answer_is_told_the_outcome(tmp_path: Path) -> None:
    """Promise 4."""
    async with web(tmp_path, script(proposes(bash("touch a")), says("done"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="do it", mode="default")
        asked = await page.until("permission.request")
        site.inside.session = asked["sessionId"]
        await site.inside.answer(asked["askId"], Allow())
        await page.until("session.status", status="completed")
        await page.send(
            "permission.response",
            sessionId=asked["sessionId"],
            toolUseId=asked["toolUseId"],
            askId=asked["askId"],
            result={"behavior": "deny"},
        )
        late = await page.until("permission.resolved", late=True)
        assert (late["behavior"], late["via"]) == ("allow", "test")


@story
async def test_b59_stop_closes_an_open_question(tmp_path: Path) -> None:
    asked = proposes(call("ask_user", questions=[{"question": "Which?"}]))
    async with web(tmp_path, script(asked)) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="ask me")
        request = await page.until("permission.request")
        await page.send("session.stop", sessionId=request["sessionId"])
        resolved = await page.until("permission.resolved")
        assert (resolved["behavior"], resolved["message"]) == ("deny", "Session aborted")
        await page.until("session.status", status="idle")


@story
async def test_x12_a_queued_prompt_is_shown_when_its_turn_starts(tmp_path: Path) -> None:
    """X-08: until then it is acknowledged as queued."""
    answers = script(hangs(says(TEXT), after_pieces=5), says("two"), says("three"))
    async with web(tmp_path, answers) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="one", requestId="r1")
        session = (await page.until("session.status"))["sessionId"]
        await page.until("stream.message", sessionId=session)
        await page.send("session.continue", sessionId=session, prompt="two", requestId="r2")
        await page.until("prompt.queued", prompt="two")
        await page.until("session.accepted", requestId="r2", sessionId=session)
        await page.send("session.stop", sessionId=session)
        await page.until("session.status", status="idle")
        assert page.story(session).count("prompt two") == 0
        await page.send("session.continue", sessionId=session, prompt="three")
        for prompt in ("two", "three"):
            await page.until("stream.user_prompt", prompt=prompt)
            await page.until("session.status", status="completed")


@story
async def test_a_history_of_open_asks_is_shown_once(tmp_path: Path) -> None:
    async with web(tmp_path, script(proposes(bash("touch a")), says("done"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="do it", mode="default")
        asked = await page.until("permission.request")
        session = asked["sessionId"]
        async with site.client() as late:
            await late.send("session.history", sessionId=session)
            again = await late.until("permission.request")
            assert {k: v for k, v in asked.items() if k != "seq"} == again
            await late.send("session.history", sessionId=session)
            await late.send("session.list")
            await late.until("session.list")
            assert late.kinds().count("permission.request") == 1


@story
async def test_ten_thousand_unknown_sessions_leave_nothing_behind(tmp_path: Path) -> None:
    async with web(tmp_path, script()) as site, site.client() as page:
        for number in range(1000):
            await page.send("session.history", sessionId=f"unknown-{number}")
        for _ in range(1000):
            assert (await page.next())["payload"] == {"message": "Unknown session"}
        assert site.host.supervised() == 0


@story
async def test_x04_a_server_that_starts_takes_up_what_was_left(tmp_path: Path) -> None:
    """Whatever has an open ask or a queue is attended at once, so that an answer from anywhere drives it on."""
    async with house(tmp_path, script(proposes(bash("touch made")), says("made it"))) as first:
        await first.create(mode="default")
        await first.prompt("make it")
        (ask,) = await first.asks()
        async with web(tmp_path, script()) as site:
            assert site.host.supervised() == 1
        await first.answer(ask)
        await first.ended()


def shown_text(page: Page) -> str:
    """The text of the block that is being written, as the contract's algorithm builds it."""
    text = ""
    for event in page.seen:
        if event["type"] == "stream.message" and event["payload"]["message"]["type"] == "stream_event":
            inner = event["payload"]["message"]["event"]
            if inner["type"] == "content_block_start":
                text = ""
            elif inner["type"] == "content_block_delta":
                text += inner["delta"].get("text", "")
    return text


@story
async def test_clients_in_batches_are_shown_the_same(tmp_path: Path) -> None:
    async with (
        web(tmp_path, script(says(TEXT))) as site,
        site.client() as page,
        site.client(batched=True) as batched,
    ):
        await page.send("session.start", title="t", prompt="talk")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        await batched.until("session.status", status="completed")
        assert [e for e in page.seen if "seq" in e["payload"]] == [e for e in batched.seen if "seq" in e["payload"]]
        assert page.story(session)
