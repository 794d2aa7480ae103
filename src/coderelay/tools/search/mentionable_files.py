"""Lists files and folders for people to mention; what git ignores is left out, as in the tools."""

import asyncio
import os
import threading
import time

from coderelay.protocol.query_results import FilesShown
from coderelay.tools.search.file_walk import Walk

_MOST = 200_000
_SECONDS = 10.0


async def list_folder(folder: str) -> FilesShown:
    listing = _Listing(os.path.realpath(folder))
    try:
        return await asyncio.to_thread(listing.run)
    finally:
        listing.stop()


class _Listing:
    """A listing made in a thread, which ends soon after `stop` is called."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> FilesShown:
        until = time.monotonic() + _SECONDS
        found: dict[str, None] = {}
        try:
            for place in Walk(self._root):
                if self._stopped.is_set() or len(found) >= _MOST or time.monotonic() > until:
                    return FilesShown(tuple(found), whole=False)
                if place.path.isprintable():  # so that people can type it
                    _add(place.path, found)
        except OSError:
            return FilesShown((), whole=False)
        return FilesShown(tuple(found))


def _add(path: str, found: dict[str, None]) -> None:
    """Add a path and the folders that contain it, each folder before its contents."""
    folder, slash, _ = path.rpartition("/")
    if slash and f"{folder}/" not in found:
        at = path.find("/")
        while at >= 0:
            found.setdefault(path[: at + 1])
            at = path.find("/", at + 1)
    found[path] = None
