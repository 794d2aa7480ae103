"""Which files the model knows: what the log says counts, what this process remembers only explains."""

from pathlib import Path

import pytest

from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.files.confined_files import FileContent
from coderelay.workspace.files.read_tracking import FileReadTracker
from tests.house import story
from tests.tools.toolbox_scene import lay_out, scene

pytestmark = pytest.mark.quick


def content(data: bytes, mark: str) -> FileContent:
    return FileContent(data, len(data), mark, 0o644)


def said(known: FileReadTracker, path: str, now: FileContent) -> str:
    with pytest.raises(ToolFailed) as failed:
        known.check(path, now, shown="f")
    return failed.value.message


def test_only_the_log_says_what_is_known() -> None:
    log: dict[str, str] = {}
    known = FileReadTracker(lambda: log)
    known.keep("/f", "1", b"a\n")
    assert known.never_read("/f")
    log["/f"] = "1"
    assert not known.never_read("/f")
    known.check("/f", content(b"a\n", "1"), shown="f")
    log.clear()  # the history was summed up
    assert known.never_read("/f")
    known.check("/f", content(b"b\n", "2"), shown="f")


def test_another_process_says_only_that_it_has_changed() -> None:
    known = FileReadTracker(lambda: {"/f": "1"})
    assert (
        said(known, "/f", content(b"a\nb", "2"))
        == "f has changed since you read it: it has 2 lines now. Read it again."
    )
    known.keep("/f", "0", b"old\n")  # not what the log says was seen last
    assert (
        said(known, "/f", content(b"", "2")) == "f has changed since you read it: it has 0 lines now. Read it again."
    )


def test_what_has_changed_is_shown_short() -> None:
    known = FileReadTracker()
    known.keep("/f", "1", b"".join(b"%d\n" % number for number in range(3000)))
    told = said(known, "/f", content(b"".join(b"%d!\n" % number for number in range(3000)), "2"))
    assert told.startswith("f has changed since you read it:\n@@ -1,3000 +1,3000 @@\n-0\n")
    assert told.endswith(" more lines)\nRead it again.")
    assert len(told) < 2200
    known.keep("/g", "1", b"\0\1")
    assert said(known, "/g", content(b"\0\1\2", "2")) == (
        "f has changed since you read it:\nit had 2 bytes and has 3.\nRead it again."
    )


def test_only_so_much_is_remembered() -> None:
    known = FileReadTracker()
    for number in range(70):
        known.keep(f"/{number}", "1", b"a\n")
    known.keep("/big", "1", b"x" * 9_000_000)
    for path in ("/0", "/69", "/big"):
        assert "lines now" in said(known, path, content(b"b\n", "2"))
    known.keep("/69", "1", b"a\n")
    assert "@@" in said(known, "/69", content(b"b\n", "2"))


@story
async def test_files_are_known_by_what_the_log_says(tmp_path: Path) -> None:
    """Two workspaces on one log stand for two processes."""
    lay_out(tmp_path, {"f": "1\n"})
    log: dict[str, str] = {}
    async with scene(tmp_path) as first, scene(tmp_path) as second:
        for each in (first, second):
            each.workspace.known = FileReadTracker(lambda: log)
        outcome = await first.outcome("read", path="f")
        assert "you have not read it" in await second.refused("write", path="f", content="2\n")
        log.update({seen.path: seen.mark for seen in getattr(outcome, "seen", ())})
        outcome = await second.outcome("write", path="f", content="2\n")
        assert "it has 1 lines now" not in str(outcome)
        assert "has changed since you read it" in await first.refused("edit", path="f", old="2", new="3")
        log.update({seen.path: seen.mark for seen in getattr(outcome, "seen", ())})
        assert await first.run("edit", path="f", old="2", new="3") == "edited f (+1 -1)"
