"""The same server on a thread of its own, for tests that start `coder` as a process."""

import asyncio
import threading
from asyncio import AbstractEventLoop
from collections.abc import Generator
from contextlib import contextmanager

from tests.model_server.script import Script
from tests.model_server.server import ModelServer, Received
from tests.model_server.violation import Violation
from tests.model_server.wire_form import Body
from tests.patience import PATIENCE


@contextmanager
def model_server_thread(script: Script, *, port: int = 0) -> Generator["ModelServerThread"]:
    with _loop_in_thread() as loop:
        server = ModelServer(script)
        asyncio.run_coroutine_threadsafe(server.start(port), loop).result()
        try:
            yield ModelServerThread(server, loop)
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result()


class ModelServerThread:
    """What the server recorded, readable from any thread: its lists only grow."""

    def __init__(self, server: ModelServer, loop: AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self.base_url = server.base_url

    @property
    def received(self) -> list[Received]:
        return self._server.received

    @property
    def requests(self) -> list[Body]:
        return self._server.requests

    @property
    def violations(self) -> list[Violation]:
        return self._server.violations

    def wait_for_requests(self, n: int, timeout: float = PATIENCE) -> None:
        """Raises TimeoutError if they do not come."""
        waiting = asyncio.wait_for(self._server.wait_for_requests(n), timeout)
        asyncio.run_coroutine_threadsafe(waiting, self._loop).result()


@contextmanager
def _loop_in_thread() -> Generator[AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="model server", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        asyncio.run_coroutine_threadsafe(_finish_tasks(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _finish_tasks() -> None:
    """Let asyncio finish with connections that it had accepted when the listener was closed: a loop that stops before
    leaves their sockets to the garbage collection, which fails some later test."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
    for _ in range(3):  # what an aborted connection still calls
        await asyncio.sleep(0)
