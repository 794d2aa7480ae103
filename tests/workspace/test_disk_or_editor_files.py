"""The port: files on disk, and those an editor lends with text it has not saved."""

import asyncio
import os
from pathlib import Path
from threading import Event

import pytest

from coderelay.protocol.calls import Seen
from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.files.confined_files import ConfinedFiles, FileContent
from coderelay.workspace.files.disk_or_editor_files import DiskOrEditorFiles, Files, FilesOnDisk
from coderelay.workspace.processes.command_runner import Processes
from coderelay.workspace.processes.environment import command_environment
from coderelay.workspace.workspace import Workspace
from tests.house import story


class Buffers:
    """An editor with some files open. Saving writes the file, as editors do."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts
        self.asked: list[str] = []

    async def read_text(self, path: str) -> str | None:
        self.asked.append(path)
        return self.texts.get(os.path.basename(path))

    async def write_text(self, path: str, text: str) -> bool:
        name = os.path.basename(path)
        if name not in self.texts:
            return False
        self.texts[name] = text
        Path(path).write_text(text)
        return True


async def refusal(files: Files, path: str, data: bytes, expected: str | None = None) -> str:
    with pytest.raises(ToolFailed) as refused:
        await files.write(path, data, expected=expected)
    return refused.value.message


@pytest.mark.quick
@story
async def test_a_workspace_has_files_in_all_its_folders(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "work").mkdir()
    other = str(tmp_path / "other")
    workspace = Workspace(str(tmp_path / "work"), Processes(), command_environment({}), folders=[other])
    assert await workspace.files.write("a/f", b"one") is True
    content = await workspace.files.read("a/f", 99)
    assert (content.data, content.size, content.fingerprint) == (b"one", 3, workspace.disk.fingerprint("a/f"))
    await workspace.files.move("a/f", f"{other}/f")
    await workspace.files.remove(f"{other}/f", expected=content.fingerprint)
    assert os.listdir(other) == []
    assert (workspace.root, workspace.disk.roots) == (str(tmp_path / "work"), (str(tmp_path / "work"), other))
    assert workspace.files.disk is workspace.disk


@pytest.mark.quick
@story
async def test_unsaved_text_comes_before_what_is_on_disk(folder: Path) -> None:
    (folder / "open").write_text("saved")
    (folder / "closed").write_text("on disk")
    editor = Buffers(open="being written", new="never saved")
    files = DiskOrEditorFiles(ConfinedFiles([str(folder)]), editor)
    lent = await files.read("open", 5)
    saved = files.disk.fingerprint("open")
    assert (lent.data, lent.size, lent.mode) == (b"being", 13, 0o644)
    assert lent.fingerprint.startswith(f"{saved}~")
    assert await files.read("closed", 99) == files.disk.read("closed", 99)
    new = await files.read("new", 99)
    assert (new.data, new.fingerprint[:1]) == (b"never saved", "~")
    assert editor.asked == [str(folder / "open"), str(folder / "closed"), str(folder / "new")]

    editor.texts["open"] = "saved"
    assert await files.read("open", 99) == FileContent(b"saved", 5, saved, 0o644)


@story
async def test_the_editor_writes_what_it_has_open_and_the_disk_the_rest(folder: Path) -> None:
    (folder / "open").write_text("saved")
    editor = Buffers(open="being written")
    files = DiskOrEditorFiles(ConfinedFiles([str(folder)]), editor)
    assert await files.write("open", b"by the model") is False
    assert (editor.texts, (folder / "open").read_text()) == ({"open": "by the model"}, "by the model")
    assert await files.write("a/closed", b"by us") is True
    assert (folder / "a/closed").read_bytes() == b"by us"
    assert await files.write("open", b"\xff\xfe\0") is False  # no text, so not for an editor
    assert ((folder / "open").read_bytes(), editor.texts) == (b"\xff\xfe\0", {"open": "by the model"})


@story
async def test_text_that_was_changed_in_the_editor_is_not_overwritten(folder: Path) -> None:
    (folder / "open").write_text("saved")
    editor = Buffers(open="being")
    files = DiskOrEditorFiles(ConfinedFiles([str(folder)]), editor)
    mark = (await files.read("open", 99)).fingerprint
    editor.texts["open"] = "being written"
    changed = "open has changed in the editor since you read it; read it again"
    assert await refusal(files, "open", b"x", mark) == changed
    assert await refusal(files, "open", b"x", files.disk.fingerprint("open")) == changed
    assert await files.write("open", b"x", expected=(await files.read("open", 99)).fingerprint) is False
    (folder / "open").write_text("by git")
    assert await refusal(files, "open", b"y", mark) == "open has changed since you read it; read it again"
    assert (editor.texts, (folder / "open").read_text()) == ({"open": "x"}, "by git")


@story
async def test_a_file_known_from_an_editor_has_not_changed_until_it_is_saved(folder: Path) -> None:
    (folder / "open").write_text("saved")
    files = DiskOrEditorFiles(ConfinedFiles([str(folder)]), Buffers(open="being written"))
    seen = Seen(str(folder / "open"), (await files.read("open", 99)).fingerprint)
    assert files.disk.has_changed(seen) is False
    (folder / "open").write_text("saved again")
    assert files.disk.has_changed(seen) is True


@story
async def test_c10_an_editor_is_not_asked_for_what_is_outside_or_protected(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "secret").write_text("s")
    (folder / "link").symlink_to("../secret")
    (folder / "inner").symlink_to("f")
    editor = Buffers(secret="s", link="s", config="c", f="f")
    files = DiskOrEditorFiles(ConfinedFiles([str(folder)]), editor)
    for path in ("../secret", "link"):
        with pytest.raises(ToolFailed, match="is outside the workspace"):
            await files.read(path, 9)
        assert "is outside the workspace" in await refusal(files, path, b"x")
    assert "belongs to git" in await refusal(files, ".git/config", b"x")
    assert "leads through a link to f" in await refusal(files, "inner", b"x")
    assert editor.asked == []
    assert (await files.read("inner", 9)).data == b"f"
    assert editor.asked == [str(folder / "f")]


@story
async def test_a_write_that_is_cancelled_is_over_when_its_call_is(folder: Path) -> None:
    begun, go_on = Event(), Event()

    class SlowDisk(ConfinedFiles):
        def write(self, path: str, data: bytes, *, expected: str | None = None) -> bool:
            begun.set()
            go_on.wait()
            return super().write(path, data, expected=expected)

    writing = asyncio.create_task(FilesOnDisk(SlowDisk([str(folder)])).write("f", b"x"))
    await asyncio.to_thread(begun.wait)
    writing.cancel()
    asyncio.get_running_loop().call_later(0.01, go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert (folder / "f").read_bytes() == b"x"


@story
async def test_the_loop_goes_on_while_a_file_is_written(folder: Path) -> None:
    go_on = Event()

    class SlowDisk(ConfinedFiles):
        def write(self, path: str, data: bytes, *, expected: str | None = None) -> bool:
            assert go_on.wait(30)
            return super().write(path, data, expected=expected)

    files = FilesOnDisk(SlowDisk([str(folder)]))
    async with asyncio.TaskGroup() as group:
        writing = group.create_task(files.write("f", b"x"))
        await asyncio.sleep(0)  # it begins
        go_on.set()
    assert writing.result() is True
