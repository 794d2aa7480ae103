"""The pre-check: what a call would touch and change, found out without doing anything."""

import subprocess
from pathlib import Path

import msgspec
import pytest

from coderelay.protocol.asks import PermissionAsk
from coderelay.protocol.calls import Need
from coderelay.protocol.event_codec import decode, encode
from coderelay.protocol.events import BatchOpened, Judged
from coderelay.protocol.ids import AskId, CallId, MessageId, TurnId
from tests.house import story
from tests.tools.toolbox_scene import Scene, contents, lay_out, scene

pytestmark = pytest.mark.quick

PATCH = """\
*** Begin Patch
*** Update File: a
-1
+2
*** Update File: b
*** Move to: c
*** Add File: new
+x
*** End Patch
"""


def needs(here: Scene) -> list[Need]:
    return [
        here.need("read", path="a"),
        here.need("list"),
        here.need("glob", pattern="*.py", path="sub"),
        here.need("grep", pattern="x"),
        here.need("write", path="new/f", content="1\n2\n"),
        here.need("edit", path="a", old="1", new="2"),
        here.need("patch", patch=PATCH),
    ]


@story
async def test_d14_d15_a_need_has_kind_paths_and_diff_and_nothing_is_touched(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a": "0\n1\n", "b": "1\n", "sub/x": ""})
    before = contents(tmp_path)
    root = str(tmp_path)
    async with scene(tmp_path) as here:
        assert needs(here) == [
            Need("read", "read", "a", (f"{root}/a",)),
            Need("list", "read", ".", (root,)),
            Need("glob", "read", "*.py", (f"{root}/sub",)),
            Need("grep", "read", "x", (root,)),
            Need(
                "write",
                "edit",
                "new/f",
                (f"{root}/new/f",),
                diff="--- /dev/null\n+++ b/new/f\n@@ -0,0 +1,2 @@\n+1\n+2\n",
            ),
            Need(
                "edit",
                "edit",
                "a",
                (f"{root}/a",),
                diff="--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 0\n-1\n+2\n",
            ),
            Need(
                "patch",
                "edit",
                "a, b, c, new",
                (f"{root}/a", f"{root}/b", f"{root}/c", f"{root}/new"),
                diff="--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 0\n-1\n+2\n--- a/b\n+++ b/c\n"
                "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n",
            ),
        ]
    assert contents(tmp_path) == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b", "sub"]


@story
async def test_d16_every_field_of_a_need_survives_the_log(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a": "0\n1\n", "b": "1\n", "sub/x": ""})
    lay_out(tmp_path, {"broken": b"caf\xe9 \xff\xfe\n" + "é".encode() * 9})
    async with scene(tmp_path) as here:
        found = [*needs(here), here.need("bash", command="ls"), here.need("edit", path="broken", old="caf", new="x")]
        found.append(here.need("edit", path="a", old="nowhere", new="x"))
    judged = tuple(
        Judged(
            call_id=CallId(str(number)),
            verdict="ask",
            need=need,
            ask=PermissionAsk(AskId(f"ask-{number}"), CallId(str(number)), need, "because"),
        )
        for number, need in enumerate(found)
    )
    event = BatchOpened(batch_id=MessageId("m"), turn_id=TurnId("t"), judged=judged)
    assert decode("batch.opened", encode(event)) == event
    assert msgspec.json.decode(msgspec.json.encode(found), type=list[Need]) == found


@story
async def test_d15_a_long_diff_is_cut_with_a_note(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        need = here.need("write", path="f", content="x" * 99 + "\n" * 1 + ("y" * 99 + "\n") * 999)
    assert len(need.diff.encode()) < 20_100
    *_, last = need.diff.splitlines()
    assert last == f"… ({1003 - need.diff.count(chr(10)) + 1} more lines)"


@story
async def test_the_preview_is_the_change(tmp_path: Path) -> None:
    """What people are shown, applied by git, gives what the tools write."""
    lay_out(tmp_path, {"work/a": "1\n2\n3", "work/b": "1\r\n2\r\n", "copy/a": "1\n2\n3", "copy/b": "1\r\n2\r\n"})
    calls = [
        ("edit", {"path": "a", "old": "2", "new": "two\n2.5"}),
        ("edit", {"path": "b", "old": "1\n", "new": ""}),
        ("patch", {"patch": "*** Begin Patch\n*** Add File: d/new\n+x\n*** Update File: a\n-3\n+4\n*** End Patch"}),
    ]
    async with scene(tmp_path / "work") as here:
        for tool, arguments in calls:
            shown = here.need(tool, **arguments).diff
            await here.run(tool, **arguments)
            argv = ["git", "apply", "-p1", "--whitespace=nowarn", "-"]
            subprocess.run(argv, cwd=tmp_path / "copy", input=shown.encode(), check=True)
    assert contents(tmp_path / "copy") == contents(tmp_path / "work")
