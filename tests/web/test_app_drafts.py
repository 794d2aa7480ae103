"""What the web app keeps: drafts, answers on their way, what was decided; and what it shows whatever comes."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import WebSocketRoute, expect

from tests.web.app_stories import decide
from tests.web.chromium import ask_card, browser, conversation, desk, needs_app_in_chromium, say, start
from tests.web.test_app_files import png

pytestmark = [needs_app_in_chromium, pytest.mark.timeout(180)]


def test_what_was_typed_chosen_or_attached_is_there_again_after_other_sessions_and_a_reload(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        (at.folder / "logo.png").write_bytes(png())
        start(page, "story:checks first", at.folder)
        page.get_by_role("checkbox", name="Lint").click()
        page.get_by_label("Other … Which checks?").fill("docs")
        page.get_by_label("Other … Which database?").fill("DuckDB")
        page.get_by_role("radio", name="SQLite").click()
        expect(page.get_by_label("Other … Which database?")).to_have_value("")  # one answer only
        page.get_by_label("Message", exact=True).fill("a draft")
        page.locator("input[type=file]").set_input_files(at.folder / "logo.png")
        images = page.get_by_role("list", name="Images").get_by_role("img")
        expect(images).to_have_count(1)
        start(page, "story:none second", at.folder)
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        expect(images).to_have_count(0)

        rows = page.get_by_role("navigation", name="Sessions").get_by_role("button")
        rows.filter(has_text="story:checks first").last.click()
        expect(page.get_by_role("checkbox", name="Lint")).to_be_checked()
        expect(page.get_by_role("radio", name="SQLite")).to_be_checked()
        expect(page.get_by_label("Other … Which checks?")).to_have_value("docs")
        expect(images).to_have_count(1)
        expect(page.get_by_label("Message", exact=True)).to_have_value("a draft")

        page.reload()
        expect(page.get_by_role("heading", level=1)).to_have_text("story:checks first")  # not the newest
        expect(page.get_by_label("Message", exact=True)).to_have_value("a draft")


def test_an_answer_that_was_lost_on_its_way_can_be_given_again(tmp_path: Path):
    lost: list[str | bytes] = []

    def lose_the_first_answer(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def pass_on(text: str | bytes) -> None:
            if lost or "permission.response" not in str(text):
                server.send(text)
            else:
                lost.append(text)
                socket.close()

        socket.on_message(pass_on)

    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        expect(page.get_by_role("dialog")).to_be_visible()
        page.route_web_socket(re.compile("/events$"), lose_the_first_answer)
        page.reload()
        start(page, "story:command", at.folder)
        page.get_by_role("button", name="Allow once").click()
        expect(ask_card(page)).to_be_visible()
        page.get_by_role("button", name="Allow once").click()  # waits until that is possible
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        expect(page.get_by_text("Allowed", exact=True)).to_be_visible()
        assert len(lost) == 1


def test_who_decided_is_told_after_a_reload_and_a_session_that_was_deleted_meanwhile_is_missed(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:none other", at.folder)
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        start(page, "story:command here", at.folder)
        ask_id = ask_card(page).get_attribute("data-ask")
        assert at.run("answer", "--no-wait", str(ask_id), "allow").code == 0
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        decided = page.get_by_text(re.compile("^Allowed · .*command line"))
        expect(decided).to_be_visible()
        page.reload()
        expect(decided).to_be_visible()

        at.kill()
        expect(page.get_by_text("Connection to the server lost")).to_be_visible()
        newest = json.loads(at.run("sessions", "list", "--json").out.splitlines()[0])
        assert newest["title"] == "story:command here"
        assert at.run("sessions", "delete", newest["id"]).code == 0
        at.start()
        expect(page.get_by_role("alert")).to_contain_text("“story:command here” was deleted elsewhere.")
        expect(page.get_by_role("heading", level=1)).to_have_text("story:none other")


def test_lines_that_look_like_headers_are_shown_and_no_answer_breaks_the_page(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        (at.folder / "q.sql").write_text("-- every row\nselect 1;\n")
        start(page, "story:sql", at.folder)
        change = ask_card(page).get_by_role("group", name="Change")
        expect(change).to_contain_text("-- every row")
        expect(change).to_contain_text("++ rows;")
        page.get_by_role("button", name="Allow once").click()
        expect(conversation(page).get_by_text("All done.")).to_be_visible()

        say(page, "story:long")
        expect(ask_card(page)).not_to_contain_text("touch file12")
        ask_card(page).get_by_role("button", name="Show 8 more lines").click()
        expect(ask_card(page)).to_contain_text("touch file19")
        page.get_by_role("button", name="Deny", exact=True).click()
        expect(conversation(page).get_by_text("All done.")).to_have_count(2)

        say(page, "story:deep")
        expect(conversation(page).get_by_text("the bottom")).to_be_visible()
        say(page, "story:none still there")
        expect(conversation(page).get_by_text("All done.").last).to_be_in_viewport()
        expect(conversation(page).get_by_text("story:none still there")).to_be_visible()


def test_the_conversation_of_a_task_is_shown_beside_its_result(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:task", at.folder, mode="yolo")
        expect(conversation(page).get_by_text("All done.").last).to_be_visible()
        page.reload()
        page.get_by_role("button", name="Show what it did").click()
        dialog = page.get_by_role("dialog", name="look around")
        expect(dialog.get_by_text("story:none within the task")).to_be_visible()
        expect(dialog.get_by_text(re.compile("^Done"))).to_be_visible()
        page.keyboard.press("Escape")

        page.get_by_role("button", name=re.compile("^Model:")).click()
        page.get_by_role("group", name="Agent").get_by_role("menuitemradio", name="guide").click()
        expect(page.get_by_role("button", name="Model: guide")).to_be_visible()
