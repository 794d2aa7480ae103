"""The web app as a person uses it, in Chromium, against a real server and a scripted model."""

import json
import re
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


def test_b04_b18_b20_b28_x30_a_session_is_started_and_its_answer_drawn_without_loading_anything(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:markdown why?", at.folder)

        expect(conversation(page).get_by_text("Found two causes.")).to_be_visible()
        expect(page.locator(".hljs-keyword").first).to_have_text("def")
        expect(conversation(page).get_by_text('<script>document.title = "owned"</script>')).to_be_visible()
        expect(page.get_by_role("link", name="pixel")).to_have_attribute("href", "https://evil.example/pixel.png")
        expect(page.get_by_role("link", name="bad")).to_have_count(0)
        expect(page.locator("img")).to_have_count(0)
        expect(page).to_have_title("story:markdown why? · coder")
        page.get_by_role("button", name="Thought").click()
        expect(page.get_by_text("That is one too many.")).to_be_visible()
        expect(page.get_by_text(re.compile(r"^Done · .* tokens"))).to_be_visible()  # B-31
        expect(page.get_by_text("native · openai:scripted · Ask first")).to_be_visible()


def test_b29_b30_a_command_is_approved_and_its_result_folded_to_three_lines(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:command", at.folder)

        expect(ask_card(page).get_by_text("cat made.txt")).to_be_visible()
        expect(page).to_have_title(re.compile(r"^\(1\) "))
        expect(page.get_by_role("region", name="Waiting for you").first).to_contain_text("printf")  # the inbox
        page.get_by_role("button", name="Allow once").click()

        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        tool = page.locator("[data-tool=Bash]")
        expect(tool).to_have_attribute("data-status", "success")
        expect(tool.get_by_label("Result")).to_have_text("l1\nl2\nl3")
        tool.get_by_role("button", name="Show 2 more lines").click()
        expect(tool.get_by_label("Result")).to_have_text("l1\nl2\nl3\nl4\nl5")
        assert (at.folder / "made.txt").is_file()


def test_one_of_two_permissions_is_denied_with_a_message(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:pair", at.folder)

        expect(ask_card(page)).to_have_count(2)
        expect(page.get_by_text("2 permissions are waiting")).to_be_visible()
        second = ask_card(page).filter(has_text="second.txt")
        second.get_by_role("button", name="More ways to deny").click()
        page.get_by_role("menuitem", name="Deny and say").click()
        second.get_by_label("What should be done instead?").fill("not that one")
        second.get_by_role("button", name="Deny").click()
        ask_card(page).filter(has_text="first.txt").get_by_role("button", name="Allow once").click()

        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        expect(page.get_by_text("Denied: not that one")).to_be_visible()
        assert [each.name for each in at.folder.glob("*.txt")] == ["first.txt"]


def test_an_ask_that_is_answered_in_a_terminal_leaves_both_browsers_and_says_where(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:command", at.folder)
        other = page.context.new_page()
        other.goto(at.url)
        expect(other.get_by_text("This tab is not signed in")).to_be_visible()  # the token is kept for one tab only
        other.evaluate(f"sessionStorage.setItem('token', {page.evaluate('sessionStorage.token')!r})")
        other.reload()
        expect(ask_card(page)).to_be_visible()
        expect(ask_card(other)).to_be_visible()
        ask_id = ask_card(page).get_attribute("data-ask")
        assert at.run("answer", "--no-wait", str(ask_id), "allow").code == 0

        for each in (page, other):
            expect(conversation(each).get_by_text("All done.")).to_be_visible()
            expect(ask_card(each)).to_have_count(0)
            expect(each.get_by_text(re.compile("^Allowed · .*command line"))).to_be_visible()


def test_b05_b32_b60_b61_questions_are_answered_with_a_click_or_with_several_choices(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:question", at.folder)
        asked = page.locator("[data-tool=AskUserQuestion]")  # the request stands at its own tool use
        asked.get_by_role("radio", name="SQLite").click()
        expect(conversation(page).get_by_text(re.compile("You said .*SQLite", re.DOTALL))).to_be_visible()

        say(page, "story:checks")
        page.get_by_role("checkbox", name="Types").click()
        page.get_by_role("checkbox", name="Lint").click()
        page.get_by_label("Other … Which checks?").fill("docs")
        page.get_by_role("radio", name="PostgreSQL").click()
        page.get_by_role("button", name="Answer", exact=True).click()
        expect(conversation(page).get_by_text(re.compile("You said .*Types, Lint, docs", re.DOTALL))).to_be_visible()
        expect(ask_card(page)).to_have_count(0)


def test_x22_a_plan_is_approved_and_the_session_goes_on_in_the_mode_that_was_chosen(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:plan", at.folder, mode="plan")

        expect(ask_card(page).get_by_text("Read it once")).to_be_visible()
        page.get_by_role("button", name="Yes, edit freely").click()
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        expect(page.get_by_text("Plan approved")).to_be_visible()
        expect(page.get_by_role("button", name="Mode: Edit freely")).to_be_visible()


def test_everything_is_reachable_by_keyboard_and_nothing_is_wrong_for_screen_readers(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        expect(page.get_by_label("What should be done?")).to_be_focused()
        page.keyboard.type("story:command")
        page.keyboard.press("Tab")
        page.keyboard.type(str(at.folder))
        page.keyboard.press("Enter")
        expect(ask_card(page)).to_be_visible()
        assert serious_findings(page) == []
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "Allow once":
                break
        page.keyboard.press("Enter")
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        page.keyboard.press("Control+k")
        page.keyboard.type("dark")
        page.keyboard.press("Enter")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        assert serious_findings(page) == []


def test_b24_b27_reload_in_the_middle_of_an_answer_shows_it_whole_and_stop_ends_it(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:slow", at.folder)
        writing = page.locator("[data-writing]")
        expect(writing).to_contain_text("word5 ")
        page.reload()

        expect(writing).to_contain_text("word9 ")
        seen = writing.inner_text().split()
        assert seen[: len(seen) - 1] == [f"word{number}" for number in range(len(seen) - 1)]
        page.get_by_role("button", name="Stop").click()

        expect(page.get_by_text(re.compile("^Stopped"))).to_be_visible()
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
        expect(page.get_by_text("Idle").first).to_be_visible()


def test_the_server_is_killed_while_an_ask_is_open_and_it_is_answered_after_the_restart(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:command", at.folder)
        expect(ask_card(page)).to_be_visible()
        page.get_by_label("Message", exact=True).fill("a draft")
        at.kill()
        expect(page.get_by_text("Connection to the server lost")).to_be_visible()
        expect(page.get_by_role("button", name="Allow once")).to_be_disabled()
        at.start()

        expect(page.get_by_text("Connection to the server lost")).to_have_count(0)
        expect(ask_card(page)).to_have_count(1)
        page.get_by_role("button", name="Allow once").click()
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        expect(page.get_by_label("Message", exact=True)).to_have_value("a draft")
        assert (at.folder / "made.txt").is_file()


def test_b06_b34_sessions_are_searched_renamed_and_deleted(tmp_path: Path):
    with (
        desk(tmp_path, decide) as (at, link),
        browser(link, permissions=("clipboard-read", "clipboard-write")) as page,
    ):
        start(page, "story:one the first", at.folder)
        start(page, "story:two the second", at.folder)
        sessions = page.get_by_role("navigation", name="Sessions").get_by_role("listitem")
        expect(sessions).to_have_count(2)
        page.get_by_label("Search sessions").fill("first")
        expect(sessions).to_have_count(1)
        sessions.get_by_role("button").first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("story:one the first")

        _menu(page, "Copy “coder resume”")
        assert re.fullmatch(r"coder resume [0-9a-f-]{36}", page.evaluate("navigator.clipboard.readText()"))
        _menu(page, "Rename")
        page.get_by_label("Title").fill("Renamed")
        page.get_by_role("button", name="Rename", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Renamed")
        page.get_by_label("Search sessions").fill("")
        _menu(page, "Delete")
        page.get_by_role("button", name="Delete", exact=True).click()

        expect(sessions).to_have_count(1)
        expect(page.get_by_role("heading", level=1)).to_have_text("story:two the second")


def test_a_prompt_waits_in_the_queue_and_can_be_taken_back(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:command", at.folder)
        expect(ask_card(page)).to_be_visible()
        say(page, "then this")
        queue = page.get_by_role("list", name="Queue").get_by_role("listitem")
        expect(queue).to_contain_text("then this")
        say(page, "and that")
        expect(queue).to_have_count(2)
        page.reload()
        expect(queue).to_have_text([re.compile("then this"), re.compile("and that")])
        queue.filter(has_text="then this").get_by_role("button", name="Remove").click()
        expect(queue).to_have_count(1)
        page.get_by_role("button", name="Allow once").click()

        expect(queue).to_have_count(0)
        expect(conversation(page).get_by_text("and that")).to_be_visible()
        expect(conversation(page).get_by_text("then this")).to_have_count(0)


def test_a_phone_has_the_sessions_in_a_drawer_and_chinese_where_the_browser_wants_it(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link, width=390, height=844, locale="zh-CN") as page:
        page.get_by_label("要做什么？").fill("story:markdown")
        page.get_by_label("文件夹", exact=True).fill(str(at.folder))
        page.get_by_role("button", name="开始").click()

        expect(conversation(page).get_by_text("Found two causes.")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        expect(page.get_by_role("navigation", name="会话")).to_have_count(0)
        page.get_by_label("消息", exact=True).fill("/status")
        page.keyboard.press("Enter")
        expect(conversation(page).get_by_text(re.compile("模型 +openai:scripted"))).to_be_visible()  # by the server
        page.get_by_role("button", name="会话", exact=True).click()
        expect(page.get_by_role("navigation", name="会话")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("navigation", name="会话")).to_have_count(0)


def test_b22_b33_a_session_that_cannot_start_keeps_the_dialog_and_says_why(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_disabled()
        page.get_by_label("What should be done?").fill("story:one")
        page.get_by_label("Folder", exact=True).fill(str(at.folder / "missing"))
        page.get_by_role("button", name="Start", exact=True).click()

        expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("no such folder")
        page.get_by_label("Folder", exact=True).fill(str(at.folder))
        page.get_by_role("button", name="Start", exact=True).click()
        expect(conversation(page).get_by_text("All done.")).to_be_visible()


def test_x19_a_link_opens_its_session(tmp_path: Path):
    """The cards of a chat have such links."""
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:markdown first", at.folder)
        expect(page).to_have_title("story:markdown first · coder")
        first = json.loads(at.run("sessions", "list", "--json").out)["id"]
        start(page, "second", at.folder)
        expect(page).to_have_title("second · coder")
        page.evaluate(f"location.hash = 'session={first}'")
        expect(page).to_have_title("story:markdown first · coder")


def test_without_a_valid_token_the_page_says_where_a_link_comes_from(tmp_path: Path):
    with desk(tmp_path, decide) as (at, _), browser(at.url) as page:
        expect(page.get_by_role("heading", name="This tab is not signed in")).to_be_visible()
        expect(page.get_by_text("coder web")).to_be_visible()


def _menu(page: Page, item: str) -> None:
    page.locator("header").get_by_role("button", name="Session menu").click()
    page.get_by_role("menuitem", name=item).click()
