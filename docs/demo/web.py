"""Writes docs/demo/web.png and web-phone.png anew: the page of `coder web` while two sessions wait for the person.

A real server, a real browser and a scripted model. The folder is shown in the picture.

.venv/bin/python -m docs.demo.web [FOLDER]
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.coder_process import Coder
from tests.model_server import Answer, History, bash, by_history, call, model_server_thread, proposes, read, says
from tests.web.chromium import CHROMIUM

PICTURE = Path(__file__).with_name("web.png")
PHONE = Path(__file__).with_name("web-phone.png")
PROMPTS = ("Deploy the build to staging", "Why is the cart slow?", "Read the settings once")
LOADER = """def load(path):
    text = open(path).read()
    return decode(text)


def decode(text):
    \"\"\"One setting on each line: name = value.\"\"\"
    settings = {}
    for line in text.splitlines():
        name, found, value = line.partition("=")
        if found:
            settings[name.strip()] = value.strip()
    return settings


def price(settings, item):
    factor = 1 + float(settings["tax"])  # read for each item
    return round(item.price * factor, 2)
"""
EDIT = call(
    "edit",
    path="load.py",
    old="    text = open(path).read()\n    return decode(text)\n",
    new="    with open(path) as file:\n        return decode(file.read())\n",
)
TODO = [
    {"content": "Find where the settings are read", "status": "completed"},
    {"content": "Read them once", "status": "in_progress"},
    {"content": "Run the tests", "status": "pending"},
]


def _decide(history: History) -> Answer:
    if history[0].text.startswith("Give a title"):
        return says("")  # the prompts are titles enough
    prompt = next(said.text for said in history if said.role == "user")
    steps = sum(said.role == "assistant" for said in history)
    if PROMPTS[0] in prompt:
        return proposes(bash("make deploy TARGET=staging"), text="The build is ready.")
    if PROMPTS[1] in prompt:
        return says("Each request reads the settings anew: 40 ms of 46.")
    return (
        proposes(call("todo", items=TODO), text="I'll look at the loader first."),
        proposes(read("load.py")),
        proposes(EDIT),
    )[min(steps, 2)]


def main() -> None:
    with tempfile.TemporaryDirectory() as root, model_server_thread(by_history(_decide)) as model:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else f"{root}/shop-api")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "load.py").write_text(LOADER)
        coder = Coder(Path(root) / "home", folder, model.base_url)
        command = [sys.executable, "-m", "coderelay.cli", "web", "--no-open", "--port", "0"]
        server = subprocess.Popen(command, cwd=folder, env=coder.env, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            _photograph(server.stdout.readline().strip())
        finally:
            server.terminate()
            server.wait()


def _photograph(link: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1360, "height": 800}, device_scale_factor=1.5)
        page.goto(link)
        for number, prompt in enumerate(PROMPTS):
            if number:
                page.get_by_role("button", name="New session").first.click()
            page.locator("textarea").first.fill(prompt)
            page.get_by_role("button", name="Start").click()
            page.get_by_text(re.compile("Waiting for you|Done")).first.wait_for()
            page.wait_for_timeout(2000)  # nothing moves any more
        page.get_by_role("button", name="Files", exact=True).click()
        page.get_by_role("list", name="Files").get_by_role("button", name="load.py").click()
        page.locator(".hljs-keyword").first.wait_for()
        page.wait_for_timeout(1000)
        page.screenshot(path=PICTURE)
        page.keyboard.press("Escape")
        _photograph_phone(browser, page)
        browser.close()


def _photograph_phone(browser: Browser, page: Page) -> None:
    """The ask about the command, in the dark, at a phone that is signed in as the page is."""
    context = browser.new_context(
        viewport={"width": 390, "height": 700}, device_scale_factor=2, color_scheme="dark", has_touch=True
    )
    phone = context.new_page()
    phone.add_init_script(f"sessionStorage.setItem('token', {page.evaluate('sessionStorage.token')!r})")
    phone.goto(page.url)
    phone.get_by_role("button", name="Sessions", exact=True).click()
    phone.get_by_role("navigation").get_by_role("button", name=PROMPTS[0]).last.click()
    phone.get_by_role("button", name="Allow once").wait_for()
    phone.wait_for_timeout(1000)
    phone.screenshot(path=PHONE)


if __name__ == "__main__":
    main()
