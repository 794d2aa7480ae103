"""A person at a browser: Chromium, a real `coder web`, and a scripted model.

with desk(tmp_path, decide) as at, at.browser() as page:
    at.open(page)
    start(page, "hello", at.folder)
"""

import fcntl
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, Playwright, expect, sync_playwright

from tests.coder_process import Coder, Ran, Started
from tests.model_server import Answer, History, by_history
from tests.model_server.thread import model_server_thread

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
ARGUMENTS = ("--no-sandbox", "--disable-gpu")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

expect.set_options(timeout=30_000)

needs_app_in_chromium = pytest.mark.usefixtures("app_in_chromium")


class Desk:
    """A folder, a home, and `coder web` on a port that it keeps when it starts again."""

    def __init__(self, coder: Coder) -> None:
        self._coder = coder
        self._running: Started | None = None
        self.port = 0
        self.folder = coder.cwd

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> str:
        """Start the server. Returns the link that it prints."""
        self._running = self._coder.fork("coder", "web", "--no-open", "--port", str(self.port))
        assert self._running.process.stdout is not None
        link = self._running.process.stdout.readline().strip()
        found = re.search(r":(\d+)/", link)
        assert found, f"no link: {link!r}"
        self.port = int(found[1])
        return link

    def run(self, *arguments: str) -> Ran:
        """Run `coder` in a terminal beside the browser."""
        return self._coder.run(*arguments)

    def launch(self, *arguments: str) -> Started:
        """Start `coder` in a terminal, and do not wait for its end."""
        return self._coder.start(*arguments)

    def kill(self) -> None:
        """As a power cut would."""
        assert self._running is not None
        self._running.kill()
        self._running = None

    def close(self) -> None:
        if self._running is not None:
            self._running.send(signal.SIGTERM)
            self._running.wait()


@contextmanager
def desk(root: Path, decide: Callable[[History], Answer]) -> Generator[tuple[Desk, str]]:
    """A running server, and the link to it."""
    folder = root / "person" / "project"
    folder.mkdir(parents=True)
    with model_server_thread(by_history(decide)) as model:
        at = Desk(Coder(root / "home", folder, model.base_url))
        try:
            yield at, at.start()
        finally:
            at.close()


@contextmanager
def browser(
    link: str, *, width: int = 1280, height: int = 800, locale: str = "en-US", permissions: tuple[str, ...] = ()
) -> Generator[Page]:
    """A page at the link. Errors in it, and whatever its security policy stops, fail the test."""
    problems: list[str] = []
    with one_at_a_time():
        context = _shared.browser().new_context(
            viewport={"width": width, "height": height}, locale=locale, permissions=permissions
        )
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("console", lambda said: problems.append(said.text) if _is_problem(said.type, said.text) else None)
        page.on("request", lambda sent: None if _is_local(sent.url) else problems.append(f"left: {sent.url}"))
        try:
            page.goto(link)
            yield page
        finally:
            context.close()
    assert problems == []


class _Shared:
    """One browser for the tests of a module: to start it takes as long as most of them. It ends with the module
    (`conftest`), because no other event loop can run in this thread until then."""

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    def playwright(self) -> Playwright:
        self._playwright = self._playwright or sync_playwright().start()
        return self._playwright

    def browser(self) -> Browser:
        if self._browser is None:
            self._browser = self.playwright().chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        return self._browser

    def close(self) -> None:
        if self._browser is not None:
            self._browser.close()
        if self._playwright is not None:
            self._playwright.stop()
        self._playwright = self._browser = None


_shared = _Shared()
playwright_of_module, close_browser = _shared.playwright, _shared.close


@contextmanager
def one_at_a_time() -> Generator[None]:
    """A browser takes all processors that it gets, so the workers of a test run take turns."""
    with open(Path(tempfile.gettempdir()) / "coder-tests-chromium.lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed
        yield


def _is_problem(kind: str, text: str) -> bool:
    """The browser itself says that a server is away, and that a call was refused; the page deals with both."""
    ignored = ("ERR_CONNECTION", "WebSocket connection", "Failed to load resource")
    return kind == "error" and not any(each in text for each in ignored)


def _is_local(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:"))


def start(page: Page, prompt: str, folder: Path, mode: str = "") -> None:
    """Start a session with the dialog, which a page without sessions shows by itself."""
    page.locator("nav li, nav p").first.wait_for()  # the list of sessions is there, or that there are none
    if not page.get_by_role("dialog").is_visible():
        page.get_by_role("button", name="New session").first.click()
    page.get_by_label("What should be done?").fill(prompt)
    page.get_by_label("Folder", exact=True).fill(str(folder))
    if mode:
        page.get_by_label("Mode", exact=True).select_option(mode)
    page.get_by_role("button", name="Start", exact=True).click()
    try:
        page.get_by_role("dialog").wait_for(state="detached")
    except Error as error:
        raise AssertionError(f"not started: {page.locator('body').inner_text()}") from error


def say(page: Page, text: str) -> None:
    field = page.get_by_label("Message", exact=True)
    field.fill(text)
    field.press("Enter")


def conversation(page: Page) -> Locator:
    return page.get_by_role("log")


def ask_card(page: Page) -> Locator:
    return page.locator("[data-ask]")


def serious_findings(page: Page) -> list[str]:
    """What axe-core finds that keeps people from using the page."""
    script = AXE.read_text(encoding="utf-8")
    page.evaluate(f"() => {{ {script} }}")
    page.wait_for_function("() => document.getAnimations().every(each => each.effect.getTiming().iterations !== 1)")
    found = page.evaluate("axe.run().then(({violations}) => violations)")
    bad = [each for each in found if each["impact"] in ("serious", "critical")]
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in bad]
