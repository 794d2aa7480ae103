"""`coder acp`: an agent for editors that speak the Agent Client Protocol, on standard input and output.

Editors start it themselves; docs/acp.md has the settings to paste. Standard output carries nothing but the protocol.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from coderelay.cli.startup.current_person import current_person
from coderelay.cli.startup.event_loop_and_ctrl_c import INTERRUPTED, is_ignored, run_loop
from coderelay.cli.startup.localized_argument_parser import HelpText, LocalizedArgumentParser
from coderelay.cli.startup.open_app import new_app
from coderelay.client.client import EDITOR, Client
from coderelay.client.i18n import error_in_words, t
from coderelay.protocol.errors import CoderError
from coderelay.surfaces.editor.acp_methods import AcpMethods
from coderelay.wire.stream_transport import StreamTransport


def main(arguments: list[str]) -> int:
    parser = LocalizedArgumentParser(
        prog="coder acp", description=t(__doc__ or ""), allow_abbrev=False, formatter_class=HelpText
    )
    parser.add_argument(
        "--listen",
        metavar="URL",
        help=t(
            "wait for programs of this machine at ws://127.0.0.1:8090/acp or another WebSocket address, instead of "
            "using standard input and output"
        ),
    )
    url: str | None = parser.parse_args(arguments).listen
    try:
        return run_loop(_run_on_stdio() if url is None else _run_server(url))
    except CoderError as error:
        sys.stderr.write(f"coder: {error_in_words(error)}\n")
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


async def _run_on_stdio() -> int:
    if os.isatty(0):
        sys.stderr.write(t("coder acp is started by an editor, and waits for its messages. Ctrl-C ends it.") + "\n")
    reads, writes = _take_standard_files()

    async def serve(client: Client) -> None:
        await AcpMethods(client, current_person("editor"), StreamTransport(reads, writes)).serve()

    return await _serve(serve)


async def _run_server(url: str) -> int:
    from coderelay.surfaces.editor.websocket_server import (  # imported late: editors do not connect, they start us
        listen_at,
        serve_clients,
    )

    endpoint = listen_at(url)

    async def serve(client: Client) -> None:
        sys.stdout.write(f"{endpoint.url}\n")
        sys.stdout.flush()
        await serve_clients(client, current_person("editor"), endpoint, asyncio.Event().wait())

    return await _serve(serve)


async def _serve(serve: Callable[[Client], Coroutine[Any, Any, None]]) -> int:
    """Serve until it is over, or a signal ends it."""
    app = new_app()
    host = await app.open_patiently()
    try:
        await host.check()
        serving = asyncio.ensure_future(serve(host.connect(EDITOR)))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            if not is_ignored(number):
                loop.add_signal_handler(number, serving.cancel)
        try:
            await serving
        except asyncio.CancelledError:
            if not serving.cancelled():
                serving.cancel()
                await asyncio.gather(serving, return_exceptions=True)
                raise
        return 0
    finally:
        await app.close(host)


def _take_standard_files() -> tuple[int, int]:
    """Standard input and output for the protocol alone: what anything else in this process reads is empty, and what
    it writes goes to standard error. Programs that this process starts do not get the files of the protocol."""
    reads, writes = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reads, writes
