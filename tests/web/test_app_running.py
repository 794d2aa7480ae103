"""The web app while something runs, and when its server dies or knows it no more."""

import base64
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.app_stories import decide
from tests.web.chromium import ask_card, browser, conversation, desk, needs_app_in_chromium, say, start
from tests.web.test_app_files import png

pytestmark = [needs_app_in_chromium, pytest.mark.timeout(180)]


def test_output_comes_while_a_command_runs_and_prompts_wait_or_join_the_turn(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:wait", at.folder, mode="yolo")
        command = page.locator("[data-tool=Bash]")
        expect(command.get_by_label("Result")).to_have_text("waiting")
        expect(command).to_have_attribute("data-status", "pending")
        expect(page.get_by_role("list", name="Todos").get_by_role("listitem")).to_have_text(["✓Begin", "→Wait"])
        expect(conversation(page).get_by_text("Working …")).to_be_visible()
        field = page.get_by_label("Message", exact=True)
        field.fill("first")
        field.press("Shift+Enter")
        field.press_sequentially("second")
        expect(field).to_have_value("first\nsecond")
        field.press("Enter")
        queue = page.get_by_role("list", name="Queue").get_by_role("listitem")
        expect(queue).to_contain_text("Queued")
        queue.get_by_role("button", name="Edit").click()
        page.get_by_label("Queued message").fill("story:none later")
        page.keyboard.press("Enter")
        expect(queue).to_contain_text("story:none later")
        field.fill("and be quick")
        field.press("Control+Enter")
        expect(queue.filter(has_text="and be quick")).to_contain_text("Next step")
        (at.folder / "go").touch()

        expect(command.get_by_label("Result")).to_have_text("waiting\nover")
        expect(conversation(page).get_by_text("All done.")).to_have_count(2)
        expect(queue).to_have_count(0)
        for _ in range(2):
            expect(conversation(page).get_by_text("while it was working").locator("..")).to_contain_text(
                "and be quick"
            )
            expect(conversation(page).get_by_text("story:none later")).to_be_visible()
            page.reload()


def test_a_batch_is_allowed_at_once_and_images_are_pasted_and_dropped(tmp_path: Path):
    with (
        desk(tmp_path, decide) as (at, link),
        browser(link, permissions=("clipboard-read", "clipboard-write")) as page,
    ):
        start(page, "story:pair", at.folder)
        page.get_by_role("button", name="Allow all once").click()
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        assert {each.name for each in at.folder.glob("*.txt")} == {"first.txt", "second.txt"}

        images = page.get_by_role("list", name="Images").get_by_role("img")
        for kind, count in (("paste", 1), ("drop", 2)):
            _bring_image(page, kind)
            expect(images).to_have_count(count)
        page.get_by_role("button", name="Remove image 1").click()
        expect(images).to_have_count(1)
        say(page, "story:markdown look")
        expect(conversation(page).get_by_role("img", name="Image 1")).to_be_visible()
        page.get_by_role("button", name="Copy", exact=True).click()
        assert page.evaluate("navigator.clipboard.readText()") == "def load(path):\n    return 1"


def _bring_image(page: Page, kind: str) -> None:
    page.get_by_label("Message", exact=True).evaluate(
        """(field, [kind, data]) => {
            const bytes = Uint8Array.from(atob(data), each => each.charCodeAt(0));
            const brought = new DataTransfer();
            brought.items.add(new File([bytes], "a.png", { type: "image/png" }));
            const event = kind === "paste"
                ? new ClipboardEvent("paste", { clipboardData: brought, bubbles: true, cancelable: true })
                : new DragEvent("drop", { dataTransfer: brought, bubbles: true, cancelable: true });
            field.dispatchEvent(event);
        }""",
        [kind, base64.b64encode(png()).decode()],
    )


def test_what_nobody_knows_is_told_and_a_new_token_asks_for_a_new_link(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:wait", at.folder, mode="yolo")
        command = page.locator("[data-tool=Bash]")
        expect(command.get_by_label("Result")).to_have_text("waiting")
        at.kill()
        expect(page.get_by_text("Connection to the server lost")).to_be_visible()
        page.get_by_label("Message", exact=True).fill("still here")
        at.start()
        expect(command.get_by_role("img", name="It is not known whether it ran")).to_be_visible()
        expect(command).to_contain_text("The call may have run; check before you repeat it.")
        expect(conversation(page).get_by_text("All done.")).to_be_visible()

        at.kill()
        (tmp_path / "home" / "web.token").unlink()
        again = at.start()
        expect(page.get_by_role("heading", name="This tab is not signed in")).to_be_visible()
        page.get_by_label("Link").fill(again)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_label("Message", exact=True)).to_have_value("still here")
        expect(conversation(page).get_by_text("All done.")).to_be_visible()


def test_a_budget_is_raised_on_its_card(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    card = {"price": {"input": 10_000, "output": 0}}
    settings = {"budget": {"session": 0.01}, "providers": {"openai": {"models": {"scripted": card}}}}
    (home / "config.json").write_text(json.dumps(settings))
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:command", at.folder, mode="yolo")
        expect(ask_card(page)).to_contain_text(re.compile(r"\$\d.* of \$0.01 are spent"))
        page.get_by_role("button", name="Raise and go on").click()
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
