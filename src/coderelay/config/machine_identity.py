"""The identity of this machine in the log: a random id, kept in the file `<home>/machine`.

It belongs to CODER_HOME, not to the hardware: two homes on one computer are two machines, and a home that moves to
another computer keeps its sessions.
"""

import os
from contextlib import suppress

from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.ids import MachineId, MachineIdentity, new_id
from coderelay.protocol.translatable import say
from coderelay.workspace.files.atomic_write import create

_NAME = "machine"
_MOST_CHARS = 100


def machine_identity(home: str) -> MachineIdentity:
    """The identity of the machine with this CODER_HOME; its id is made the first time. Raises StoreFailed."""
    path = os.path.join(home, _NAME)
    try:
        text = _read(path) or _made(home, path)
    except OSError as error:
        raise StoreFailed(
            say("cannot save this machine's id in {file}: {why}", file=path, why=error.strerror),
            "Make the folder writable, or set CODER_HOME to one you own.",
        ) from error
    if not text or not text.isprintable() or len(text) > _MOST_CHARS:
        raise StoreFailed(
            say("{file} does not contain this machine's id", file=path),
            "Restore it. If you remove it, this machine gets a new id, and `coder resume ID --here` takes a session "
            "over from the old one.",
        )
    return MachineIdentity(MachineId(text), os.uname().nodename)


def _read(path: str) -> str:
    """Empty if there is no such file, or if it is empty."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def _made(home: str, path: str) -> str:
    """Make an id. Of several processes that do so at once, the first one's id counts."""
    os.makedirs(home, mode=0o700, exist_ok=True)
    folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(FileExistsError):  # another process was faster
            create(folder, _NAME, f"{new_id()}\n".encode(), 0o600)
            os.fsync(folder)
    finally:
        os.close(folder)
    return _read(path)
