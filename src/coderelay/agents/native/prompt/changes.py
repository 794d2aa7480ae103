"""Files that are not any more what the model has read."""

from collections.abc import Mapping

from coderelay.protocol.calls import Seen
from coderelay.protocol.content import Note
from coderelay.workspace.files.disk import Disk

_LOOKED_AT = 200  # the files that were read last


def change_notes(seen: Mapping[str, str], disk: Disk) -> list[Note]:
    recent = list(seen.items())[-_LOOKED_AT:]
    return [_changed(path, disk) for path, mark in recent if disk.has_changed(Seen(path, mark))]


def _changed(path: str, disk: Disk) -> Note:
    now = "has changed since you read it; read it again before you rely on it" if disk.mark(path) else "is gone"
    return Note(f"file:{path}", f"<file-changed>{disk.relative(path)} {now}.</file-changed>")
