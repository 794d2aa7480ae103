"""The web app outside of its page: notifications, the count on the tab, installing it, and very long sessions."""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.web.app_stories import decide
from tests.web.chromium import (
    ARGUMENTS,
    CHROMIUM,
    browser,
    conversation,
    desk,
    needs_app_in_chromium,
    one_at_a_time,
    playwright_of_module,
    start,
)

pytestmark = [needs_app_in_chromium, pytest.mark.timeout(180)]
MANY = 2000


def test_a_notification_is_shown_once_for_an_ask_while_nobody_looks_and_the_tab_counts(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link, permissions=("notifications",)) as page:
        start(page, "story:none", at.folder)
        page.keyboard.press("Control+k")
        page.get_by_role("option", name="Notify me").click()
        page.evaluate(
            """() => {
                window.notified = [];
                const Real = Notification;
                window.Notification = class extends Real {
                    constructor(title, options) {
                        super(title, options);
                        this.addEventListener("show", () => notified.push(`${title}: ${options.body}`));
                    }
                };
            }"""
        )
        _devtools(page, "Emulation.setFocusEmulationEnabled", enabled=False)
        other = page.context.new_page()
        other.bring_to_front()
        expect(page.get_by_text("All done.")).to_be_visible()
        assert at.run("-p", "--unattended", "park", "story:command").code == 5

        page.wait_for_function("() => window.notified.length > 0")
        expect(page).to_have_title(re.compile(r"^\(1\) "))
        icon = page.locator("link[rel=icon]")
        expect(icon).to_have_attribute("href", re.compile(r"^data:image/svg\+xml,.*%3E1%3C%2Ftext%3E"))
        [told] = page.evaluate("window.notified")
        assert "printf" in told
        page.bring_to_front()
        page.get_by_role("region", name="Waiting for you").get_by_role("button").click()
        page.get_by_role("button", name="Allow once").click()
        expect(page).to_have_title(re.compile(r"^[^(]"))
        expect(icon).to_have_attribute("href", "/icon.svg")
        assert len(page.evaluate("window.notified")) == 1


def test_b73_the_page_can_be_installed_and_its_window_stays_signed_in(tmp_path: Path):
    """Chromium says what keeps a page from being installed. A window of an app has no address bar for a link."""
    with desk(tmp_path, decide) as (at, link):
        with _app_window(tmp_path, at.url) as page:
            errors = _devtools(page, "Page.getInstallabilityErrors")
            assert errors == {"installabilityErrors": []}
            page.get_by_label("Link").fill(link)
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_role("dialog", name="New session")).to_be_visible()
        with _app_window(tmp_path, at.url) as page:
            expect(page.get_by_role("dialog", name="New session")).to_be_visible()


_STANDALONE = """
    const real = window.matchMedia.bind(window);
    window.matchMedia = (query) => (query === "(display-mode: standalone)" ? { matches: true } : real(query));
"""


@contextmanager
def _app_window(root: Path, url: str) -> Generator[Page]:
    with one_at_a_time():
        context = playwright_of_module().chromium.launch_persistent_context(
            root / "profile", executable_path=CHROMIUM, args=ARGUMENTS
        )
        page = context.pages[0]
        page.add_init_script(_STANDALONE)
        page.goto(url)
        yield page
        context.close()


def _devtools(page: Page, method: str, **parameters: Any) -> dict[str, Any]:
    session: Any = page.context.new_cdp_session(page)  # its answers have no types
    return session.send(method, parameters)


def test_2000_messages_are_drawn_with_a_screenful_of_rows(tmp_path: Path):
    with desk(tmp_path, decide) as (at, link), browser(link) as page:
        start(page, "story:none long", at.folder)
        expect(page.get_by_text("All done.")).to_be_visible()
        page.route_web_socket(re.compile("/events$"), _with_long_history)
        page.reload()

        expect(conversation(page).get_by_text("answer 666", exact=True)).to_be_visible()
        assert page.locator("[data-index]").count() < 60
        conversation(page).evaluate("each => each.scrollTo(0, 0)")
        expect(conversation(page).get_by_text("prompt 0", exact=True)).to_be_visible()
        page.get_by_role("button", name="Latest").click()
        expect(conversation(page).get_by_text("answer 666", exact=True)).to_be_visible()


def _with_long_history(socket: WebSocketRoute) -> None:
    server = socket.connect_to_server()

    def pass_on(text: str | bytes) -> None:
        events: list[dict[str, Any]] = json.loads(text)
        for each in events:
            if each["type"] == "session.history":
                each["payload"]["messages"] = _messages()
        socket.send(json.dumps(events))

    server.on_message(pass_on)


def _messages() -> list[dict[str, Any]]:
    turns = [
        [
            {"type": "user_prompt", "prompt": f"prompt {number}"},
            {"type": "a type of the future", "prompt": "ignored"},  # B-19
            {"type": "assistant", "message": {"content": [{"type": "text", "text": f"answer {number}"}]}},
        ]
        for number in range(MANY // 3 + 1)
    ]
    return [message for turn in turns for message in turn]
