"""`coder app`: your sessions in a window of their own, which ends the server when it is closed."""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from coderelay.app import App
from coderelay.cli.startup.localized_argument_parser import LocalizedArgumentParser, port_number
from coderelay.cli.startup.open_app import new_app
from coderelay.cli.web import open_browser, run_command, run_server
from coderelay.client.i18n import t

_BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "brave-browser",
)
_MAC_BROWSERS = ("Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser")
_LOOK_SECONDS = 0.2
_END_SECONDS = 5.0


def main(arguments: list[str]) -> int:
    parser = LocalizedArgumentParser(prog="coder app", description=t(__doc__ or ""), allow_abbrev=False)
    parser.add_argument(
        "--port", type=port_number, metavar="N", help=t("the port to listen at (default: 8787, or the next free one)")
    )
    return run_command(_run(parser.parse_args(arguments), new_app()))


async def _run(options: argparse.Namespace, app: App) -> int:
    window = _Window(Path(app.config.home))
    try:
        return await run_server(app, window.open, port=options.port, ended=window.closed)
    finally:
        await asyncio.to_thread(window.end)


class _Window:
    """A browser of the Chromium family shows one page without tabs and address bar. It has a profile for each server,
    so that its process lives as long as its window."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._process: subprocess.Popen[bytes] | None = None

    def open(self, link: str) -> None:
        browser = _browser()
        if browser is None:
            told = t("no Chromium, Chrome, Edge or Brave was found for a window of its own; opening your browser")
            sys.stderr.write(f"coder: {told}\n")
            sys.stdout.write(f"{link}\n")
            sys.stdout.flush()
            open_browser(link)
            return
        port = link.partition("/#")[0].rpartition(":")[2]
        profile = self._home / "app-window" / port
        profile.mkdir(parents=True, exist_ok=True, mode=0o700)
        command = [
            browser,
            f"--app={link}",
            f"--user-data-dir={profile}",
            "--no-first-run",
            "--no-default-browser-check",
        ]
        if os.geteuid() == 0:
            command.append("--no-sandbox")  # it would not start; the page is our own and loads nothing from elsewhere
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)

    async def closed(self) -> None:
        """Wait until the window is closed; for ever if another browser shows the page."""
        while self._process is None or self._process.poll() is None:  # noqa: ASYNC110  # a process sets no event
            await asyncio.sleep(_LOOK_SECONDS)

    def end(self) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)


def _browser() -> str | None:
    on_path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if on_path is not None or sys.platform != "darwin":
        return on_path
    apps = (f"/Applications/{name}.app/Contents/MacOS/{name}" for name in _MAC_BROWSERS)
    return next(filter(os.path.exists, apps), None)
