"""How the web app starts, selects and steers sessions, in Chromium, against a real server."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import WebSocketRoute, expect

from tests.web.app_stories import decide
from tests.web.chromium import ask_card, browser, conversation, desk, needs_app_in_chromium, say, start

pytestmark = [needs_app_in_chromium, pytest.mark.timeout(180)]


def test_b21_the_start_button_is_disabled_until_the_session_has_started(tmp_path: Path):
    """The server's answer is held back until the button was seen."""
    held: list[str | bytes] = []
    sockets: list[WebSocketRoute] = []

    def hold_acceptance(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        server = socket.connect_to_server()
        server.on_message(lambda text: held.append(text) if b"accepted" in _bytes(text) else socket.send(text))

    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        expect(page.get_by_role("dialog")).to_be_visible()
        page.route_web_socket(re.compile("/events$"), hold_acceptance)
        page.reload()
        page.get_by_label("What should be done?").fill("story:none")
        page.get_by_label("Folder", exact=True).fill(str(at.folder))
        page.get_by_role("button", name="Start", exact=True).click()

        expect(page.get_by_role("button", name="Starting …")).to_be_disabled()
        while not held:
            page.wait_for_timeout(20)  # lets the handler of the socket run
        for text in held:
            sockets[-1].send(text)
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(conversation(page).get_by_text("All done.")).to_be_visible()


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def test_b06_b19_the_history_of_a_session_is_asked_for_once(tmp_path: Path):
    sent: list[dict[str, Any]] = []
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:none the first", at.folder)
        start(page, "story:none the second", at.folder)
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        page.on("websocket", lambda socket: socket.on("framesent", lambda text: sent.append(json.loads(text))))
        page.reload()
        rows = page.get_by_role("navigation", name="Sessions").get_by_role("listitem")
        for name in ("the first", "the second", "the first", "the second"):
            rows.filter(has_text=name).get_by_role("button").first.click()
            expect(page.get_by_role("heading", level=1)).to_contain_text(name)
            expect(conversation(page).get_by_text("All done.")).to_be_visible()

        asked = [each["payload"]["sessionId"] for each in sent if each["type"] == "session.history"]
        assert len(asked) == len(set(asked)) == 2
        assert [each["type"] for each in sent].count("session.list") == 1


def test_a60_a_rejection_that_stops_ends_the_turn_and_always_covers_the_next_call(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:pair", at.folder)
        first = ask_card(page).filter(has_text="first.txt")
        first.get_by_role("button", name="More ways to deny").click()
        page.get_by_role("menuitem", name="Deny and stop").click()
        expect(page.get_by_text(re.compile("^Stopped"))).to_be_visible()
        expect(ask_card(page)).to_have_count(0)
        assert list(at.folder.glob("*.txt")) == []

        say(page, "story:command again")
        ask_card(page).get_by_role("button", name="Always allow").click()
        page.get_by_role("menuitem", name="in this session").click()
        expect(conversation(page).get_by_text("All done.")).to_have_count(1)
        say(page, "story:command once more")
        expect(conversation(page).get_by_text("All done.")).to_have_count(2)  # nobody was asked
        expect(page.get_by_text("Allowed in this session")).to_be_visible()


def test_a61_a64_mode_and_folder_are_changed_while_it_works_and_count_from_the_next_turn_on(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        (at.folder / "inner").mkdir()
        start(page, "story:command", at.folder)
        expect(ask_card(page)).to_be_visible()
        page.get_by_role("button", name="Mode: Ask first").click()
        page.get_by_role("menuitemradio", name="Never ask").click()
        page.locator("header").get_by_role("button", name="Session menu").click()
        page.get_by_role("menuitem", name="Change the folder").click()
        page.get_by_role("list", name="Folders").get_by_role("button", name="inner").click()
        expect(page.get_by_text(f"{at.folder}/inner").first).to_be_visible()
        page.get_by_role("button", name="Use this folder").click()
        expect(ask_card(page)).to_be_visible()  # the open ask stays
        page.get_by_role("button", name="Allow once").click()
        expect(conversation(page).get_by_text("All done.")).to_be_visible()
        assert (at.folder / "made.txt").is_file()

        say(page, "story:command in there")
        expect(conversation(page).get_by_text("All done.")).to_have_count(2)
        assert (at.folder / "inner" / "made.txt").is_file()


def test_a_session_whose_process_was_killed_says_that_it_waits_and_goes_on_here(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        other = at.launch("-p", "story:steady")
        page.get_by_role("navigation", name="Sessions").get_by_role("button", name="story:steady").first.click()
        expect(page.locator("[data-writing]")).to_contain_text("word5 ")
        other.kill()

        expect(page.get_by_text("Not running: coder resume continues it")).to_be_visible()
        expect(page.locator("header").get_by_text("Not running")).to_be_visible()
        page.get_by_role("button", name="Continue here").click()
        expect(conversation(page).get_by_text("word99")).to_be_visible()
        expect(page.get_by_text("Not running")).to_have_count(0)
        expect(conversation(page).get_by_text(re.compile("^Done"))).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_have_text("story:steady")
