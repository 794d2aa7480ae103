"""The web app in a browser: what it costs to open a long session. Without Chromium or the app there is no row."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path
from statistics import median
from typing import Any

from msgspec.structs import replace

from bench.lab import CODER, lab
from bench.table import Row, at_most
from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.events import AnyEvent, MessageAdded
from coderelay.protocol.ids import SessionId, new_id
from coderelay.protocol.message_content import Text
from coderelay.store.sqlite.store import SqliteStore
from coderelay.surfaces.web.page_files import APP
from coderelay.testing.store_suite import created, whole_turn

TURNS = 334
"""Each has six messages."""
ROUNDS = 5
SETTLED_MS = 1500
ANSWER = """The loader reads the settings **twice**, see `load.py`.

```python
def load(path):
    return decode(open(path).read())
```

- one
- two with a [link](https://example.org)

| a | b |
|---|---|
| 1 | 2 |
"""


def measure() -> list[Row]:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None or not (APP / "index.html").is_file():
        return []
    with lab() as here:
        asyncio.run(_fill(here.home / "sessions.db"))
        env = {**os.environ, "CODER_HOME": str(here.home)}
        started = subprocess.Popen(
            [*CODER, "web", "--no-open", "--port", "0"], cwd=here.work, env=env, stdout=subprocess.PIPE, text=True
        )
        try:
            assert started.stdout is not None
            seconds = _open_again_and_again(started.stdout.readline().strip(), chromium)
        finally:
            started.terminate()
            started.wait()
    return [
        Row("web app, a session of 2,000 messages opened, CPU of the page", "s", seconds, None, at_most(0.15, "s"))
    ]


def _open_again_and_again(link: str, chromium: str) -> float:
    from playwright.sync_api import sync_playwright  # only this row needs it

    spent: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(link)
        devtools: Any = page.context.new_cdp_session(page)  # its answers have no types
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        for _ in range(ROUNDS):
            page.get_by_role("button", name="short").first.click()
            page.reload()  # the page has nothing of the long one then
            page.get_by_role("heading", name="short").wait_for()
            page.wait_for_timeout(SETTLED_MS)
            before = _main_thread(devtools)
            page.get_by_role("button", name="long").first.evaluate("each => each.click()")
            page.wait_for_timeout(SETTLED_MS)  # to look for something would cost the page more
            spent.append(_main_thread(devtools) - before)
            page.get_by_text("The loader reads").last.wait_for()
        browser.close()
    return median(spent)


def _main_thread(devtools: Any) -> float:
    """The processor time of all tasks so far, in seconds."""
    found = devtools.send("Performance.getMetrics")["metrics"]
    return next(each["value"] for each in found if each["name"] == "TaskDuration")


async def _fill(path: Path) -> None:
    store = SqliteStore(str(path), SessionRows())
    for title, turns in (("long", TURNS), ("short", 1)):
        pages = [page for turn in range(turns) for page in whole_turn(2 * turn + 1, f"build part {turn}")]
        events: list[AnyEvent] = [created(title=title), *(_answered(event) for page in pages for event in page)]
        await store.append(SessionId(new_id()), 0, events)
    await store.close()


def _answered(event: AnyEvent) -> AnyEvent:
    is_last = isinstance(event, MessageAdded) and not event.calls
    return replace(event, blocks=(Text(ANSWER),)) if is_last else event
