"""How long trees are kept: the newest of a folder, none for longer than a month, and no folder nobody uses."""

import os
import shutil
import time
from contextlib import suppress

from coderelay.workspace.trees.shadow_repository import Shadow

FOLDER = "trees"
MOST_TREES, _SLACK = 50, 14
_SECONDS = 30 * 24 * 3600


def keep(shadow: Shadow, tree: str) -> None:
    """A ref holds it, whose time tells when it was last the state of the folder."""
    refs = os.path.join(shadow.folder, "refs", "trees")
    os.makedirs(refs, 0o700, exist_ok=True)
    with open(os.path.join(refs, tree), "w") as file:
        file.write(f"{tree}\n")
    oldest_last = sorted(os.scandir(refs), key=lambda ref: ref.stat().st_mtime_ns, reverse=True)
    too_old = time.time() - _SECONDS
    gone = [ref for at, ref in enumerate(oldest_last) if at >= MOST_TREES or ref.stat().st_mtime < too_old]
    if len(gone) > _SLACK or (gone and gone[-1].stat().st_mtime < too_old):
        for ref in gone:
            os.unlink(ref.path)
        shadow.git.run("prune", "--expire=now")
        _sweep(os.path.dirname(shadow.folder), too_old)


def _sweep(places: str, too_old: float) -> None:
    """Folders of ours whose lock was not taken for a month."""
    for place in os.scandir(places):
        with suppress(FileNotFoundError):
            lock = os.path.join(place.path, "lock")
            used = os.stat(lock if os.path.exists(lock) else place.path).st_mtime
            if used < too_old:
                shutil.rmtree(place.path, ignore_errors=True)
