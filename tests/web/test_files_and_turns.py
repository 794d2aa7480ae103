"""What web clients see and do with files: what each turn changed, undo, images of prompts, and IDE context."""

import asyncio
import base64
import json
from pathlib import Path

from coderelay.surfaces.web.ide_context import MOST_SELECTED
from tests.house import story
from tests.model_server import proposes, says, script, write
from tests.web.browser import TOKEN, Page, Site, web
from tests.web.web_server import Answer, parsed

PNG = base64.b64encode(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
).decode()


async def run_turn(page: Page, session: str, prompt: str) -> None:
    await page.send("session.continue", sessionId=session, prompt=prompt)
    await page.until("session.status", status="completed")


@story
async def test_the_changes_of_each_turn_are_listed_and_shown_as_a_diff(tmp_path: Path) -> None:
    answers = script(proposes(write("a.txt", "one\n")), says("1"), proposes(write("a.txt", "two\n")), says("2"))
    async with web(tmp_path, answers) as site, site.client() as page:
        await page.send("session.start", prompt="first", mode="yolo")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        await run_turn(page, session, "second")

        turns = (await page.ask("turns.list", "turns.list", sessionId=session))["turns"]

        assert [each["prompt"] for each in turns] == ["second", "first"]
        assert turns[0]["changes"] == [{"path": "a.txt", "kind": "modified", "added": 1, "deleted": 1}]
        shown = await page.ask("turn.diff", "turn.diff", sessionId=session, turnId=turns[1]["turnId"])
        assert "+one" in shown["diff"]
        assert "two" not in shown["diff"]


@story
async def test_undo_names_what_was_left_alone_and_only_undoes_the_turn_that_was_meant(tmp_path: Path) -> None:
    answers = script(proposes(write("a.txt", "a\n"), write("b.txt", "b\n")), says("done"))
    async with web(tmp_path, answers) as site, site.client() as page, site.client() as other:
        await page.send("session.start", prompt="make both", mode="yolo")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        (site.folder / "b.txt").write_text("mine\n")
        turn = (await page.ask("turns.list", "turns.list", sessionId=session, limit=1))["turns"][0]["turnId"]

        await page.send("turn.undo", sessionId=session, turnId=turn)
        undone = await page.until("turn.undone")
        refused = await other.ask("turn.undo", "runner.error", sessionId=session, turnId=turn)

        assert (undone["removed"], [each.partition(":")[0] for each in undone["conflicts"]]) == (["a.txt"], ["b.txt"])
        assert "not the last turn" in refused["message"]
        assert (site.folder / "b.txt").read_text() == "mine\n"
        history = await other.ask("session.history", "session.history", sessionId=session)
        last = history["messages"][-1]  # also after a reload
        assert (last["subtype"], last["removed"], last["turn_id"]) == ("turn_undone", ["a.txt"], turn)


@story
async def test_the_images_of_a_prompt_are_told_and_can_be_fetched(tmp_path: Path) -> None:
    async with web(tmp_path, script(says("a dot"))) as site, site.client() as page:
        images = [{"mimeType": "image/png", "data": PNG}]
        await page.send("session.start", prompt="what is this?", attachments=images)
        said = await page.until("stream.user_prompt")
        session, prompt = said["sessionId"], said["promptId"]
        await page.until("session.status", status="completed")

        assert said["images"] == 1
        history = await page.ask("session.history", "session.history", sessionId=session)
        shown = {"type": "user_prompt", "prompt": "what is this?", "promptId": prompt, "images": 1}
        assert history["messages"][0] == shown
        path = f"/api/sessions/{session}/images/{prompt}/"
        answer = await get(site, path + "0")
        assert (answer.status, answer.json) == (200, {"mimeType": "image/png", "data": PNG})
        assert [(await get(site, path + number)).status for number in ("1", "x", "-1")] == [404, 400, 404]


async def get(site: Site, path: str) -> Answer:
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    head = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{site.port}\r\nauthorization: Bearer {TOKEN}\r\n"
    writer.write(f"{head}connection: close\r\n\r\n".encode())
    answer = parsed(await reader.read())
    writer.close()
    return answer


def selected(text: str) -> dict[str, object]:
    return {"filePath": "src/cart.py", "fileName": "cart.py", "text": text, "lineStart": 3, "lineEnd": 4}


@story
async def test_a63_the_context_of_an_editor_is_shown_to_the_others_and_goes_with_a_prompt(tmp_path: Path) -> None:
    async with web(tmp_path, script(says("ok"))) as site, site.client() as page:
        async with site.client() as editor:
            file = {"path": "src/cart.py", "name": "cart.py"}
            for text in ("a", "ab", "x" * (MOST_SELECTED + 1)):
                await editor.send("ide.context", activeFile=file, selection=selected(text))
            told = await page.until("ide.context")
            assert told == {"activeFile": file, "selection": selected("x" * MOST_SELECTED)}  # one event, cut
            async with site.client() as late:
                await late.send("session.list")
                assert (await late.until("ide.context"))["activeFile"] == file
        assert await page.until("ide.context") == {"activeFile": None, "selection": None}  # the editor has gone

        context = {"selection": selected("total = 0\n")}
        await page.send("session.start", prompt="why zero?", ideContext=context)
        said = await page.until("stream.user_prompt")
        await page.until("session.status", status="completed")

        assert said["prompt"] == "why zero?"
        sent = site.inside.server.requests[-1]
        assert '<selection path="src/cart.py" lines="3-4">\\ntotal = 0\\n</selection>' in json.dumps(sent).replace(
            '\\"', '"'
        )
