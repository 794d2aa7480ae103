"""Build the app (`App`, called `app` here) for one command, and run the command with a host."""

import os
import sys
from collections.abc import Awaitable, Callable

from coderelay.app import App
from coderelay.cli.startup.event_loop_and_ctrl_c import run_loop
from coderelay.cli.startup.python_gc import enable_garbage_collection
from coderelay.client.i18n import error_in_words, retell, speak, t
from coderelay.config.detect.other_agents_and_their_settings import import_variables
from coderelay.config.loaded_config import load
from coderelay.host.host import Host
from coderelay.protocol.errors import CoderError
from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces import nonblocking_standard_streams


def new_app(cwd: str | None = None) -> App:
    """Build the app. Its environment also contains keys from the files of other programs, for variables that the
    environment does not set. From here on, messages to people are in the configured language."""
    enable_garbage_collection()
    config = load(os.environ, cwd)
    speak(config.lang)
    app = App(config, import_variables(os.environ).added_to(os.environ))
    app.tell = _tell
    return app


def _tell(text: str) -> None:
    sys.stderr.write(f"coder: {visible(retell(text))}\n")
    sys.stderr.flush()


def run_with_app(work: Callable[[Host], Awaitable[int]]) -> int:
    """Run `work` with a host. Returns its exit code, or 1, with the reason on stderr, if it is refused."""
    nonblocking_standard_streams.write_behind()
    try:
        return run_loop(_run(work, new_app()))
    except CoderError as error:
        sys.stderr.write(f"coder: {error_in_words(error)}\n")
        return 1


async def _run(work: Callable[[Host], Awaitable[int]], app: App) -> int:
    host = await app.open_patiently()
    try:
        return await work(host)
    finally:
        await app.close(host)


def restored_files_message(app: App) -> str:
    """A message about files that git obeys, which commands of a killed process had changed and which were now put
    back or moved aside; usually empty."""
    restored = app.workspaces.recover()
    if not restored:
        return ""
    return t(
        "a command had changed files that control what git runs, and coder was killed before it could undo that; "
        "restored or moved aside (*.moved-*): {paths}",
        paths=", ".join(map(visible, restored)),
    )
