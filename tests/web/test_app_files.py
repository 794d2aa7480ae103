"""Files, changes, context, images and plots in the web app, in Chromium, against a real server."""

import json
import re
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.app_stories import decide
from tests.web.chromium import (
    ask_card,
    browser,
    conversation,
    desk,
    needs_app_in_chromium,
    say,
    serious_findings,
    start,
)

pytestmark = [needs_app_in_chromium, pytest.mark.timeout(180)]
HOSTILE = "<img src=x onerror=document.title=1>.svg"
CART = "\n".join(["def cart():", "    total = 0", "    return total", ""])


def _files(folder: Path) -> None:
    (folder / "cart.py").write_text(CART)
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "src" / "deep" / "café.txt").write_text("crème\n")
    (folder / "logo.png").write_bytes(png())
    (folder / HOSTILE).write_text("<script>document.title = 'owned'</script>\n")


def png() -> bytes:
    """A red square that a person could see."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    head = (64).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    rows = zlib.compress((b"\0" + b"\xd0\x30\x30" * 64) * 64)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_a59_a63_files_are_browsed_and_a_selection_goes_with_the_message_unless_it_is_removed(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        _files(at.folder)
        start(page, "story:none hello", at.folder)
        page.get_by_role("button", name="Files", exact=True).click()
        panel = page.get_by_role("complementary", name="Files")
        panel.get_by_role("button", name="src", exact=True).click()
        panel.get_by_role("button", name="deep").click()
        panel.get_by_role("button", name="café.txt").click()
        expect(panel.get_by_role("group", name="src/deep/café.txt")).to_contain_text("crème")
        panel.get_by_role("button", name="Back to the files").click()
        panel.get_by_role("button", name=HOSTILE).click()  # names and contents are text
        expect(panel.get_by_role("group", name=HOSTILE)).to_contain_text("<script>document.title")
        expect(page).to_have_title("story:none hello · coder")
        panel.get_by_role("button", name="Back to the files").click()
        panel.get_by_label("Find a file").fill("cart")
        panel.get_by_role("button", name="cart.py").click()
        expect(panel.locator(".hljs-keyword").first).to_have_text("def")
        assert serious_findings(page) == []

        _select_line(page, 2)
        panel.get_by_role("button", name="Add lines 2–2 to the message").click()
        chip = page.locator("[data-context]")
        expect(chip).to_contain_text("cart.py:2–2")
        chip.get_by_role("button", name="Remove").click()
        expect(chip).to_have_count(0)
        _select_line(page, 2)
        panel.get_by_role("button", name="Add lines").click()
        say(page, "story:echo why zero?")

        expect(conversation(page).get_by_text('<selection path="cart.py" lines="2-2">')).to_be_visible()
        expect(
            conversation(page).get_by_text("story:echo why zero?", exact=True).first
        ).to_be_visible()  # as it was typed
        expect(chip).to_have_count(0)  # it went with that message


def _select_line(page: Page, number: int) -> None:
    page.evaluate(
        """line => {
            const range = document.createRange();
            range.selectNodeContents(document.querySelector(`[data-line="${line}"] span:last-child`));
            getSelection().removeAllRanges();
            getSelection().addRange(range);
        }""",
        number,
    )


def test_files_and_commands_are_completed_by_keyboard(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        _files(at.folder)
        start(page, "story:none hello", at.folder)
        field = page.get_by_label("Message", exact=True)
        field.press_sequentially("story:echo read @caf")
        expect(page.get_by_role("option")).to_have_text(["src/deep/café.txt"])
        page.keyboard.press("Backspace")
        expect(page.get_by_role("option")).to_have_text(["cart.py", "src/deep/café.txt"])
        assert serious_findings(page) == []
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(field).to_have_value("story:echo read @src/deep/café.txt ")
        page.keyboard.press("Enter")
        expect(conversation(page).get_by_text("story:echo read @src/deep/café.txt").first).to_be_visible()
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
        field.press_sequentially("/stat")
        expect(page.get_by_role("option")).to_contain_text(["/status"])
        page.keyboard.press("Tab")
        expect(field).to_have_value("/status ")
        page.keyboard.press("Enter")
        expect(conversation(page).get_by_text(re.compile("agent +native"))).to_be_visible()


def test_the_changes_of_a_turn_are_reviewed_and_undone_and_what_was_left_alone_is_named(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        _files(at.folder)
        start(page, "story:edit", at.folder, mode="auto-edit")
        changes = page.locator("[data-changes]")
        expect(changes).to_contain_text("Files changed: 2")
        changes.get_by_role("button", name="Review").click()
        dialog = page.get_by_role("dialog", name="Changes")
        expect(dialog.get_by_role("region", name="cart.py")).to_contain_text("total = 1")
        expect(dialog.locator("[data-view=unified]").first).to_be_visible()
        dialog.get_by_role("button", name="Split view").click()
        expect(dialog.locator("[data-view=split]").first).to_be_visible()
        assert serious_findings(page) == []
        page.keyboard.press("Escape")

        page.get_by_role("button", name="Changes", exact=True).click()
        panel = page.get_by_role("complementary", name="Changes")
        expect(panel.get_by_role("list", name="Changed files")).to_contain_text("cart.py")
        (at.folder / "new.txt").write_text("mine\n")
        panel.get_by_role("button", name="Undo …").click()
        page.get_by_role("button", name="Undo", exact=True).click()

        expect(conversation(page).get_by_text("The turn above was undone")).to_be_visible()
        page.reload()
        expect(conversation(page).get_by_text("The turn above was undone")).to_be_visible()
        expect(conversation(page).get_by_text(re.compile("^Left alone:"))).to_contain_text("new.txt")
        expect(changes).to_have_count(0)
        assert (at.folder / "cart.py").read_text() == CART
        assert (at.folder / "new.txt").read_text() == "mine\n"


def test_images_of_a_prompt_are_shown_also_after_a_reload(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        _files(at.folder)
        start(page, "story:none hello", at.folder)
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        page.locator("input[type=file]").set_input_files(at.folder / HOSTILE)
        expect(page.get_by_role("alert")).to_contain_text("is not an image that can be sent")
        page.locator("input[type=file]").set_input_files(at.folder / "logo.png")
        expect(page.get_by_role("list", name="Images").get_by_role("img")).to_have_count(1)
        say(page, "look at this")
        picture = conversation(page).get_by_role("img", name="Image 1")
        expect(picture).to_be_visible()
        page.reload()
        expect(picture).to_be_visible()
        assert page.evaluate("document.querySelector('[role=log] img').naturalWidth") == 64
        conversation(page).get_by_role("button", name="Show Image 1").click()
        expect(page.get_by_role("dialog", name="Image 1")).to_be_visible()


def test_b07_b78_the_use_of_the_machine_and_the_tokens_of_each_turn_are_plotted(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:none hello", at.folder)
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        page.get_by_role("button", name="Usage", exact=True).click()
        panel = page.get_by_role("complementary", name="Usage")
        expect(panel.get_by_role("img", name="Tokens in each turn").locator("g")).to_have_count(1)
        expect(panel.get_by_role("region", name="Machine")).to_contain_text(re.compile(r"Memory.*\d+ %"))
        drawn = panel.get_by_role("img", name="Processors").locator("path")
        expect(drawn).to_have_count(3)  # the line has two points: samples come by themselves
        assert serious_findings(page) == []


def test_b24_x08_in_the_cowork_profile_enter_stops_the_turn_and_the_text_stays(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.json").write_text(json.dumps({"web": {"profile": "cowork"}}))
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:slow", at.folder)
        expect(page.locator("[data-writing]")).to_contain_text("word5 ")
        say(page, "not sent")

        expect(page.get_by_text(re.compile("^Stopped"))).to_be_visible()
        expect(page.get_by_label("Message", exact=True)).to_have_value("not sent")
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()


def test_x08_a_text_answers_the_open_question(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:question", at.folder)
        expect(ask_card(page)).to_be_visible()
        page.get_by_label("Message", exact=True).fill("DuckDB")
        page.get_by_role("button", name="Send as the answer").click()
        expect(conversation(page).get_by_text(re.compile("You said .*DuckDB", re.DOTALL))).to_be_visible()


def test_b10_b17_b70_a_model_names_the_session_and_a_cancelled_chooser_chooses_nothing(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        folder = page.get_by_label("Folder", exact=True)
        expect(folder).to_have_value(str(at.folder))
        page.get_by_role("button", name="Browse").click()
        page.get_by_role("list", name="Folders").get_by_role("button").first.click()
        page.get_by_role("button", name="Cancel").first.click()
        expect(folder).to_have_value(str(at.folder))
        start(page, "story:named something", at.folder)
        expect(page.get_by_role("heading", level=1)).to_have_text("Named by a model")
        page.get_by_role("button", name="New session").click()
        recent = page.get_by_role("group", name="Recent folders")
        folder.fill("/elsewhere")
        recent.get_by_role("button", name=at.folder.name).click()
        expect(folder).to_have_value(str(at.folder))
