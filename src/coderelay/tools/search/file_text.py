"""Reads a file as text, for people to look at."""

import asyncio
from collections.abc import Sequence

from coderelay.protocol.session_info import FileShown
from coderelay.tools.editing.text_file import text_file
from coderelay.workspace.files.disk import Disk


async def file_text(folders: Sequence[str], path: str, most_bytes: int) -> FileShown:
    """The first `most_bytes` of a file beneath one of the folders. Raises ToolFailed if it cannot be read."""
    disk = Disk(folders)
    content = await asyncio.to_thread(disk.read, path, most_bytes)
    whole = content.size <= len(content.data)
    file = text_file(content.data, whole=whole)
    name = disk.relative(disk.locate(path))
    if file is None:
        return FileShown(name, size=content.size, binary=True, whole=whole)
    return FileShown(name, file.shown, content.size, whole=whole)
