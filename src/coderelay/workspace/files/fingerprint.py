"""Fingerprints of files: has a file changed since it was read?"""

import os

from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say
from coderelay.workspace.files.path_resolution import shown

_UNSAVED = "~"


def fingerprint_of(found: os.stat_result) -> str:
    """A text that changes whenever the file does."""
    return f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}"


def unsaved_fingerprint(saved: str, data: bytes) -> str:
    """The fingerprint of a text that an editor has not saved to the file yet."""
    from zlib import crc32  # only with an editor

    return f"{saved}{_UNSAVED}{crc32(data):08x}"


def saved_fingerprint(fingerprint: str) -> str:
    return fingerprint.partition(_UNSAVED)[0]


def check_expected(path: str, found: os.stat_result | None, expected: str | None) -> None:
    """`expected` is a fingerprint. If it is empty, there must be no file; None accepts anything."""
    fingerprint = "" if found is None else fingerprint_of(found)
    if expected is None or fingerprint == expected:
        return
    if not expected:
        raise ToolFailed(say("{path} already exists; read it first", path=shown(path)))
    if fingerprint:
        raise ToolFailed(say("{path} has changed since you read it; read it again", path=shown(path)))
    raise ToolFailed(say("{path} is gone; list its folder", path=shown(path)))
