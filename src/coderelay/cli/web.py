"""`coder web`: open sessions in a browser on this machine, and serve the event contract to other programs."""

import argparse
import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from coderelay.app import App
from coderelay.cli.startup.current_person import current_person
from coderelay.cli.startup.event_loop_and_ctrl_c import INTERRUPTED, run_loop, stop_on_signals
from coderelay.cli.startup.localized_argument_parser import LocalizedArgumentParser, port_number
from coderelay.cli.startup.open_app import new_app
from coderelay.client.client import Capabilities
from coderelay.client.i18n import error_in_words, t
from coderelay.config.settings import WebConfig
from coderelay.protocol.errors import BadInput, CoderError
from coderelay.protocol.translatable import say
from coderelay.surfaces import nonblocking_standard_streams
from coderelay.surfaces.local_listener import WEB_PORT, listen
from coderelay.surfaces.web.all_sessions_broadcast import BroadcastOptions, EventBroadcast
from coderelay.surfaces.web.client_request_handler import ClientRequestHandler
from coderelay.surfaces.web.http_api import link_of
from coderelay.surfaces.web.routes import routes
from coderelay.surfaces.web.token_and_login_links import Token, given_token, kept_token
from coderelay.surfaces.web.uvicorn_server import serve

DEV_PORT = 10087
_SHORT_TOKEN = 22


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    return run_command(_run(options, new_app()))


def run_command(running: Coroutine[Any, Any, int]) -> int:
    nonblocking_standard_streams.write_behind()
    try:
        return run_loop(running)
    except CoderError as error:
        sys.stderr.write(f"coder: {error_in_words(error)}\n")
        return 1
    except KeyboardInterrupt:
        nonblocking_standard_streams.stop_waiting_for_readers()
        return INTERRUPTED


def _parser() -> LocalizedArgumentParser:
    parser = LocalizedArgumentParser(prog="coder web", description=t(__doc__ or ""), allow_abbrev=False)
    add = parser.add_argument
    add("--host", default="127.0.0.1", metavar="H", help=t("the address to listen at, on this machine only"))
    add(
        "--port", type=port_number, metavar="N", help=t("the port to listen at (default: 8787, or the next free one)")
    )
    add("--no-open", action="store_true", help=t("print the link, but do not open a browser"))
    add("--dev", action="store_true", help=t("also accept the pages of a development server (port 10087, or PORT)"))
    return parser


async def _run(options: argparse.Namespace, app: App) -> int:
    def announce(link: str) -> None:
        _announce(link, is_opened=not options.no_open)

    return await run_server(app, announce, options.host, options.port, _dev_port() if options.dev else None)


async def run_server(
    app: App,
    ready: Callable[[str], None],
    host_name: str = "127.0.0.1",
    port: int | None = None,
    dev_port: int | None = None,
    ended: Callable[[], Awaitable[None]] | None = None,
) -> int:
    """Serve until a signal comes, or what `ended` waits for. `ready` is given the one-time link."""
    settings = app.config.settings
    listening = listen(host_name, port, settings.web.port or WEB_PORT)
    token = Token(_token(app))
    host = await app.open_patiently()
    try:
        await host.check()
        client = host.connect(Capabilities(profile=settings.web.profile or ""))
        options = BroadcastOptions(_folder(), settings.input_while_running)
        person = current_person("web")
        broadcast = EventBroadcast(client, person, options)
        requests = ClientRequestHandler(client, person, options, broadcast)
        await broadcast.start()
        stopped = stop_on_signals()
        watching = None if ended is None else asyncio.create_task(_set_after(ended(), stopped))
        try:
            await serve(
                routes(client, requests, token, _roots(settings.web), listening.url, _folder()),
                listening,
                token,
                until=stopped.wait(),
                ready=lambda: ready(link_of(listening.url, token)),
                dev_port=dev_port,
            )
        finally:
            if watching is not None:
                watching.cancel()
            await broadcast.close()
    finally:
        await app.close(host)
    return 0


async def _set_after(waited: Awaitable[None], stopped: asyncio.Event) -> None:
    await waited
    stopped.set()


def _token(app: App) -> str:
    """The token. What tools print is masked if it holds the token, like other secrets of this process."""
    given = os.environ.get("CODER_TOKEN", "")
    token = given_token(given) if given else kept_token(app.config.home)
    if len(token) < _SHORT_TOKEN:
        sys.stderr.write(f"coder: {t('CODER_TOKEN is short and can be guessed; better: openssl rand -hex 32')}\n")
    else:
        app.secrets.add([token])
    return token


def _folder() -> str:
    """Where sessions work that are started without a folder: here, or at home if this folder was removed."""
    try:
        return os.getcwd()
    except OSError:
        return os.path.expanduser("~")


def _roots(settings: WebConfig) -> tuple[str, ...]:
    return tuple(os.path.expanduser(each) for each in settings.roots) or (os.path.expanduser("~"),)


def _dev_port() -> int:
    text = os.environ.get("PORT") or str(DEV_PORT)
    try:
        return port_number(text)
    except argparse.ArgumentTypeError:
        raise BadInput(say("PORT must be a port number, not {value}", value=repr(text))) from None


def _announce(link: str, *, is_opened: bool) -> None:
    sys.stdout.write(f"{link}\n")
    sys.stdout.write(t("This link works once, within ten minutes. Ctrl-C ends the server.") + "\n")
    sys.stdout.flush()
    if is_opened:
        open_browser(link)


def open_browser(link: str) -> None:
    if _has_screen():
        threading.Thread(target=_open_browser, args=(link,), daemon=True).start()


def _has_screen() -> bool:
    """Whether a browser would open a window. A text browser would take over the terminal."""
    return sys.platform == "darwin" or any(os.environ.get(each) for each in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def _open_browser(link: str) -> None:
    """Never the reason why anything fails: the link is printed too."""
    import webbrowser  # not needed with --no-open

    try:
        webbrowser.open(link)
    except Exception:  # noqa: BLE001  # a browser that cannot be started is no error of ours
        return
