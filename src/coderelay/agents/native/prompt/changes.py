"""Files that are not any more what the model has read."""

from collections.abc import Mapping

from coderelay.protocol.content import Note
from coderelay.workspace.files import Files

_LOOKED_AT = 200  # the files that were read last


def change_notes(seen: Mapping[str, str], files: Files) -> list[Note]:
    recent = list(seen.items())[-_LOOKED_AT:]
    return [_changed(path, files) for path, mark in recent if files.mark(path) != mark]


def _changed(path: str, files: Files) -> Note:
    now = "has changed since you read it; read it again before you rely on it" if files.mark(path) else "is gone"
    return Note(f"file:{path}", f"<file-changed>{files.relative(path)} {now}.</file-changed>")
