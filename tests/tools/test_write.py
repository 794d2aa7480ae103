"""write: whole files, and none that the model does not know."""

import os
import stat
from pathlib import Path

import pytest

from coderelay.protocol.calls import Finished
from tests.house import story
from tests.tools.toolbox_scene import contents, lay_out, scene

pytestmark = pytest.mark.quick


@story
async def test_c36_write_creates_folders_replaces_whole_and_keeps_the_mode(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old\n")
    script.chmod(0o755)
    async with scene(tmp_path) as here:
        assert await here.run("write", path="a/b/c.txt", content="one\ntwo\n") == "created a/b/c.txt (2 lines)"
        await here.run("read", path="run.sh")
        outcome = await here.outcome("write", path="run.sh", content="new\nnewer\n")
        seen = here.workspace.disk.seen("run.sh")
        assert outcome == Finished("replaced run.sh (2 lines)", "+2 -1", seen=(seen,))
    assert contents(tmp_path) == {"a/b/c.txt": b"one\ntwo\n", "run.sh": b"new\nnewer\n"}
    assert stat.S_IMODE(script.stat().st_mode) == 0o755


@story
async def test_a_file_that_was_never_read_is_not_replaced(tmp_path: Path) -> None:
    lay_out(tmp_path, {"f": "mine\n"})
    async with scene(tmp_path) as here:
        said = (
            "f exists and you have not read it; write replaces the whole file, so read it first and repeat what "
            "stays, or change a part with edit"
        )
        assert await here.refused("write", path="f", content="x") == said
        assert here.need("write", path="f", content="x").problem == said
    assert contents(tmp_path) == {"f": b"mine\n"}


@story
async def test_a_file_that_changed_since_it_was_read_is_not_replaced_and_the_change_is_shown(tmp_path: Path) -> None:
    lay_out(tmp_path, {"f": "one\ntwo\nthree\n"})
    async with scene(tmp_path) as here:
        await here.run("read", path="f")
        lay_out(tmp_path, {"f": "one\n2\nthree\n"})
        assert await here.refused("write", path="f", content="x") == (
            "f has changed since you read it:\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\nRead it again."
        )
        await here.run("read", path="f")
        await here.run("write", path="f", content="x")
    assert contents(tmp_path) == {"f": b"x"}


@story
async def test_a_file_that_was_only_touched_has_not_changed(tmp_path: Path) -> None:
    lay_out(tmp_path, {"f": "one\n"})
    async with scene(tmp_path) as here:
        await here.run("read", path="f")
        os.utime(tmp_path / "f", ns=(1, 1))
        assert await here.summary("write", path="f", content="two\n") == "+1 -1"


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a\r\nb\n", "x\ny\n", b"x\ny\n"),
        (b"a\r\n", "x\r\ny\n", b"x\r\ny\n"),
        (b"a\n", "x\r\n", b"x\r\n"),
        (b"\xef\xbb\xbfa\n", "é\n", b"\xef\xbb\xbf\xc3\xa9\n"),
        ("a\n".encode("utf-16"), "é\n", "é\n".encode("utf-16")),
        ("Müller\n".encode("latin-1"), "é\n", b"\xe9\n"),
        ("Müller\n".encode("latin-1"), "你好\n", "你好\n".encode()),
        (b"\0\1\2", "text\n", b"text\n"),
    ],
)
@story
async def test_what_replaces_a_file_is_written_like_it_was(
    tmp_path: Path, before: bytes, content: str, after: bytes
) -> None:
    lay_out(tmp_path, {"f": before})
    async with scene(tmp_path) as here:
        full = here.workspace.disk.locate("f")
        here.workspace.known.keep(full, here.workspace.disk.fingerprint("f"), before)
        await here.run("write", path="f", content=content)
    assert contents(tmp_path) == {"f": after}


@story
async def test_x36_tools_do_not_write_what_is_not_theirs(tmp_path: Path) -> None:
    lay_out(tmp_path, {".git/config": "[core]\n"})
    async with scene(tmp_path) as here:
        for path in (".coder/config.json", "sub/../.coder/x", ".CODER/x"):
            assert "belongs to coder" in await here.refused("write", path=path, content="{}")
            assert "belongs to coder" in (here.need("write", path=path, content="{}").problem or "")
        await here.run("read", path=".git/config")
        assert "belongs to git" in await here.refused("edit", path=".git/config", old="core", new="x")
        patch = "*** Begin Patch\n*** Add File: .git/hooks/pre-commit\n+x\n*** End Patch\n"
        assert "belongs to git" in await here.refused("patch", patch=patch)
        assert "folder" in await here.refused("write", path=".", content="x")
    assert contents(tmp_path) == {".git/config": b"[core]\n"}
