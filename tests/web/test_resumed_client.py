"""A client that comes back, wherever it left, is shown what the others were shown."""

from pathlib import Path

from coderelay.protocol.commands import ForkSession
from coderelay.protocol.ids import SessionId, new_id
from tests.house import ME, story
from tests.model_server import bash, hangs, proposes, says, script
from tests.web.browser import Event, Page, web


async def _allow(page: Page, asked: Event) -> None:
    where = {"sessionId": asked["sessionId"], "toolUseId": asked["toolUseId"]}
    await page.send("permission.response", **where, result={"behavior": "allow"})


def _in_log(page: Page) -> list[Event]:
    return [each for each in page.seen if "seq" in each["payload"] and not each["type"].startswith("session.follow")]


@story
async def test_after_any_event_the_rest_comes_as_everybody_was_shown_it(tmp_path: Path) -> None:
    """Promise 6: also asks that were answered or stopped since, prompts that waited, and asks that are open now."""
    answers = script(
        proposes(bash("touch a")),
        says("one"),
        proposes(bash("touch b")),
        proposes(bash("touch c"), bash("touch d")),
    )
    async with web(tmp_path, answers) as site, site.client() as steady:
        await steady.send("session.start", title="t", prompt="one", mode="default")
        asked = await steady.until("permission.request")
        session = asked["sessionId"]
        await steady.send("session.continue", sessionId=session, prompt="two")
        await steady.until("prompt.queued", prompt="two")
        await _allow(steady, asked)
        await steady.until("session.status", status="completed")
        await steady.until("permission.request")
        await steady.send("session.stop", sessionId=session)
        await steady.until("permission.resolved", message="Session aborted")
        await steady.until("session.status", status="idle")
        await steady.send("session.continue", sessionId=session, prompt="three")
        await steady.until("permission.request")
        await steady.until("permission.request")
        shown = _in_log(steady)
        async with site.client() as late:
            for have, last in enumerate([None, *shown]):
                after, part = (0, 0) if last is None else _cursor(last["payload"])
                before = len(late.seen)
                await late.send("session.follow", sessionId=session, afterSeq=after, afterPart=part)
                await late.until("session.followed")
                follows = [each for each in late.seen[before:] if not each["type"].startswith("session.follow")]
                assert follows == shown[have:]


def _cursor(last: Event) -> tuple[int, int]:
    is_whole = last.get("part", 0) == last.get("parts", 1) - 1
    return (last["seq"], 0) if is_whole else (last["seq"] - 1, last["part"] + 1)


@story
async def test_an_ask_that_came_before_the_client_followed_comes_again(tmp_path: Path) -> None:
    """A client ignores what comes before `session.following`."""
    async with web(tmp_path, script(proposes(bash("touch a")))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="one", mode="default")
        asked = await page.until("permission.request")
        await page.send("session.follow", sessionId=asked["sessionId"], afterSeq=1)
        await page.until("session.following")
        before = len(page.seen)
        await page.until("session.followed")
        assert "permission.request" in page.kinds()[before:]


@story
async def test_parts_that_are_not_there_are_refused(tmp_path: Path) -> None:
    """Else events that the client does not have would be left out."""
    async with web(tmp_path, script(says("hello"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="one")
        ended = await page.until("session.status", status="completed")
        first = next(each["payload"] for each in page.seen if each["payload"].get("parts"))
        for after, part in ((first["seq"] - 1, first["parts"] + 1), (ended["seq"], 1)):
            await page.send("session.follow", sessionId=ended["sessionId"], afterSeq=after, afterPart=part)
            assert "parts" in (await page.until("runner.error"))["message"]
        await page.send("session.follow", sessionId=ended["sessionId"], afterSeq=ended["seq"] + 1)
        assert "beyond" in (await page.until("runner.error"))["message"]


@story
async def test_of_a_fork_only_what_happens_in_it_is_shown(tmp_path: Path) -> None:
    """Its copied turns do not run: a client would show it as running, and a long one would be too much at once."""
    async with web(tmp_path, script(says("one"), says("two"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="first")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        fork = SessionId(new_id())
        await site.host.send(ForkSession(session=session, to=fork, by=ME))
        await page.send("session.continue", sessionId=fork, prompt="second")
        await page.until("session.status", status="completed", sessionId=fork)
        assert page.story(fork) == [
            "status running",
            "prompt second",
            "message system init",
            "message assistant text",
            "message result success",
            "status completed",
        ]
        history = await page.ask("session.history", "session.history", sessionId=fork)
        prompts = [each["prompt"] for each in history["messages"] if each["type"] == "user_prompt"]
        assert prompts == ["first", "second"]


@story
async def test_a_second_answer_is_told_the_first_one_by_the_tool_use_alone(tmp_path: Path) -> None:
    """Promise 4: a client of the contract knows no ask ids, and made no mistake."""
    answers = script(proposes(bash("touch a")), hangs(says("one two three"), after_pieces=1))
    async with web(tmp_path, answers) as site, site.client() as page, site.client() as other:
        await page.send("session.start", title="t", prompt="do it", mode="default")
        asked = await page.until("permission.request")
        await _allow(page, asked)
        await page.until("permission.resolved")
        where = {"sessionId": asked["sessionId"], "toolUseId": asked["toolUseId"]}
        await other.send("permission.response", **where, result={"behavior": "deny"})
        late = await other.until("permission.resolved", late=True)
        assert (late["behavior"], late["toolUseId"]) == ("allow", asked["toolUseId"])
        assert "runner.error" not in other.kinds()
        await page.send("session.stop", sessionId=asked["sessionId"])
        await page.until("session.status", status="idle")
