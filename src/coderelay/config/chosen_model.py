"""The model a person chose in a folder, written there for later sessions."""

import os
import stat
from contextlib import suppress

import msgspec

from coderelay.config.document import parse_object
from coderelay.config.paths import beneath, folder_file, printable, read_folder_file, shown
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import new_id
from coderelay.protocol.translatable import say

_IGNORED = b"/.gitignore\n/config.json\n/sessions/\n"


def remember_model(folder: str, model: str) -> str | None:
    """Returns what went wrong: the model is in use already, so a file that cannot be written is only said."""
    path = folder_file(folder)
    try:
        _write_model(folder, path, model)
    except BadInput as refused:
        return say("the model is not kept for later sessions: {problem}", problem=refused)
    except OSError as error:
        why = say("{path} cannot be written: {why}", path=shown(path), why=error.strerror)
        return say("the model is not kept for later sessions: {problem}", problem=why)
    return None


def _write_model(folder: str, path: str, model: str) -> None:
    before = read_folder_file(folder)
    tree = parse_object(before or b"", shown(path))
    if tree.get("model") == model:
        return
    tree["model"] = model
    try:
        content = msgspec.json.format(msgspec.json.encode(tree), indent=2) + b"\n"
    except UnicodeEncodeError as error:
        raise BadInput(f"{shown(path)} cannot hold {printable(model)}") from error
    with suppress(FileExistsError):
        os.mkdir(os.path.dirname(path), 0o700)
    with beneath(folder, path) as (parent, name):
        if before is None:
            _ignore_in_git(parent)
        _replace(parent, name, content, 0o600)


def _ignore_in_git(parent: int) -> None:
    """A folder that brings a configuration of its own is left as its owner wants it."""
    if ".gitignore" not in os.listdir(parent):
        _replace(parent, ".gitignore", _IGNORED, 0o644)


def _replace(parent: int, name: str, content: bytes, mode: int) -> None:
    """Whole or not at all, with the mode it had before, in the folder that is open."""
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    beside = f"{name}.{new_id()}.tmp"
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=parent)
    try:
        with os.fdopen(file, "wb") as opened:
            opened.write(content)
            os.fchmod(file, mode)
        os.replace(beside, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=parent)
        raise
