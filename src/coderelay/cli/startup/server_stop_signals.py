"""Ends a server in order when a signal asks for it."""

import asyncio
import os
import signal

from coderelay.cli.startup.event_loop_and_ctrl_c import INTERRUPTED, is_ignored
from coderelay.surfaces import nonblocking_standard_streams


def stop_on_signals() -> asyncio.Event:
    """The first signal ends the server in order, a second one at once."""
    stopped = asyncio.Event()

    def stop() -> None:
        nonblocking_standard_streams.hurry()
        if stopped.is_set():
            os._exit(INTERRUPTED)
        stopped.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if not is_ignored(number):
            loop.add_signal_handler(number, stop)
    return stopped
