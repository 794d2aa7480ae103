"""File access for tools: files on disk, or an editor's open buffers with their unsaved text."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, Protocol, TypeVar

from msgspec.structs import replace

from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say
from coderelay.workspace.files.confined_files import ConfinedFiles, FileContent
from coderelay.workspace.files.fingerprint import saved_fingerprint, unsaved_fingerprint

P = ParamSpec("P")
T = TypeVar("T")


class Files(Protocol):
    """Each method refuses with a ToolFailed, as the method of `ConfinedFiles` with the same name does."""

    disk: ConfinedFiles

    async def read(self, path: str, limit: int) -> FileContent: ...

    async def write(self, path: str, data: bytes, *, expected: str | None = None) -> bool: ...

    async def remove(self, path: str, *, expected: str | None = None) -> None: ...

    async def move(self, path: str, to: str) -> None: ...


class Editor(Protocol):
    """An editor that reads and writes files for us. Paths are absolute and contain no links."""

    async def read_text(self, path: str) -> str | None:
        """None if the editor does not have the file open."""
        ...

    async def write_text(self, path: str, text: str) -> bool:
        """False if the editor leaves the writing to us."""
        ...


class FilesOnDisk:
    def __init__(self, disk: ConfinedFiles) -> None:
        self.disk = disk

    async def read(self, path: str, limit: int) -> FileContent:
        return await asyncio.to_thread(self.disk.read, path, limit)

    async def write(self, path: str, data: bytes, *, expected: str | None = None) -> bool:
        return await _uncancelled(self.disk.write, path, data, expected=expected)

    async def remove(self, path: str, *, expected: str | None = None) -> None:
        await _uncancelled(self.disk.remove, path, expected=expected)

    async def move(self, path: str, to: str) -> None:
        await _uncancelled(self.disk.move, path, to)


class DiskOrEditorFiles(FilesOnDisk):
    """Files through an editor. Its unsaved text takes precedence over the file on disk, and it writes what it can.
    The `ConfinedFiles` decides what may be read and written."""

    def __init__(self, disk: ConfinedFiles, editor: Editor) -> None:
        super().__init__(disk)
        self._editor = editor

    async def read(self, path: str, limit: int) -> FileContent:
        lent = await self._editor_text(path, self.disk.target(path))
        if lent is None:
            return await super().read(path, limit)
        return replace(lent, data=lent.data[:limit])

    async def write(self, path: str, data: bytes, *, expected: str | None = None) -> bool:
        saved = None if expected is None else saved_fingerprint(expected)
        is_new = self.disk.check_write(path, expected=saved)
        full = self.disk.locate(path)
        if expected is not None and (lent := await self._editor_text(path, full)) and lent.fingerprint != expected:
            raise ToolFailed(say("{path} has changed in the editor since you read it; read it again", path=path))
        text = _as_text(data)
        if text is not None and await self._editor.write_text(full, text):
            return is_new
        return await super().write(path, data, expected=saved)

    async def _editor_text(self, path: str, full: str) -> FileContent | None:
        """The editor's text, or None. Its fingerprint is that of the file, extended while the text differs."""
        text = await self._editor.read_text(full)
        if text is None:
            return None
        data = text.encode()
        try:
            saved = await super().read(path, len(data) + 1)
        except ToolFailed:  # a new file that was never saved
            saved = FileContent(b"", 0, "", 0o666)
        if b"\0" in saved.data:  # not a text, whatever the editor makes of it
            return None
        is_saved = saved.fingerprint and saved.data == data
        fingerprint = saved.fingerprint if is_saved else unsaved_fingerprint(saved.fingerprint, data)
        return FileContent(data, len(data), fingerprint, saved.mode)


async def _uncancelled(change: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Wait for a change that has begun even if we are cancelled: it must not happen after its tool call is over."""
    changing = asyncio.get_running_loop().run_in_executor(None, partial(change, *args, **kwargs))
    try:
        return await asyncio.shield(changing)
    except asyncio.CancelledError:
        await asyncio.wait([changing])
        changing.exception()
        raise


def _as_text(data: bytes) -> str | None:
    if b"\0" in data:  # UTF-16, or binary
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
