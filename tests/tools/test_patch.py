"""patch: both forms, several files, all or none."""

import stat
import subprocess
from pathlib import Path

import pytest

from coderelay.protocol.calls import Finished
from tests.house import story
from tests.tools.toolbox_scene import contents, lay_out, scene

TEN = "".join(f"{number}\n" for number in range(1, 11))


def envelope(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


@pytest.mark.quick
@story
async def test_c36_a_patch_creates_changes_moves_and_deletes(tmp_path: Path) -> None:
    lay_out(
        tmp_path, {"a.py": "def f():\n    return 1\n\ndef g():\n    return 1\n", "b": "b\n", "c": "c\n", "d": "d\n"}
    )
    (tmp_path / "b").chmod(0o755)
    patch = envelope(
        "*** Add File: new/x.py",
        "+one",
        "+",
        "*** Update File: a.py",
        "@@ def g():",
        "-    return 1",
        "+    return 2",
        "*** Update File: b",
        "*** Move to: moved/b",
        "@@",
        "-b",
        "+B",
        "*** Delete File: c",
        "*** Update File: d",
        "*** Move to: e",
    )
    async with scene(tmp_path) as here:
        outcome = await here.outcome("patch", patch=patch)
        assert isinstance(outcome, Finished)
        assert (outcome.output, outcome.summary) == (
            "created new/x.py (+2)\nedited a.py (+1 -1)\nmoved b to moved/b (+1 -1)\ndeleted c (-1)\n"
            "moved d to e (+0 -0)",
            "+4 -3, 5 files",
        )
    assert contents(tmp_path) == {
        "a.py": b"def f():\n    return 1\n\ndef g():\n    return 2\n",
        "e": b"d\n",
        "moved/b": b"B\n",
        "new/x.py": b"one\n\n",
    }
    assert stat.S_IMODE((tmp_path / "moved/b").stat().st_mode) == 0o755


@pytest.mark.quick
@story
async def test_git_diffs_are_understood_with_all_that_git_adds(tmp_path: Path) -> None:
    lay_out(
        tmp_path, {"a b.txt": TEN, "gone": "x\n", "old.txt": TEN, "crlf": b"1\r\n2\r\n", "open": "1\n2", "é": "1\n"}
    )
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "x")
    before = contents_of(tmp_path)
    lay_out(
        tmp_path,
        {
            "a b.txt": TEN.replace("5\n", "five\n"),
            "new.txt": TEN.replace("9", "nine"),
            "crlf": b"1\r\n2\r\n3\r\n",
            "open": "1\n2\n3",
            "é": "1\n2\n",
            "empty": "",
            "added": "1\n2",
        },
    )
    (tmp_path / "gone").unlink()
    (tmp_path / "old.txt").unlink()
    git(tmp_path, "add", "-A")
    after = contents_of(tmp_path)
    patch = git(tmp_path, "diff", "--cached", "-M").decode()
    assert "rename from old.txt" in patch
    git(tmp_path, "reset", "-q", "--hard")
    assert contents_of(tmp_path) == before
    async with scene(tmp_path) as here:
        assert (await here.run("patch", patch=patch)).split("\n") == [
            "edited a b.txt (+1 -1)",
            "created added (+2)",
            "edited crlf (+1 -0)",
            "created empty (+0)",
            "deleted gone (-1)",
            "moved old.txt to new.txt (+1 -1)",
            "edited open (+2 -1)",
            "edited é (+1 -0)",
        ]
    assert contents_of(tmp_path) == after


@pytest.mark.parametrize(
    ("patch", "after"),
    [
        ("--- a/f\n+++ b/f\n@@ -5 +5 @@\n-5\n+five\n", TEN.replace("5", "five")),
        ("--- f\n+++ f\n@@ -1,2 +1,2 @@\n 5\n-6\n+six\n", TEN.replace("6", "six")),
        ("--- a/f\t2020-01-01\n+++ b/f\t2020-01-02\n@@ -5,1 +5,0 @@\n-5\n", TEN.replace("5\n", "")),
        ("Here it is:\n```diff\n--- a/f\n+++ b/f\n@@ -5 +5 @@\n-5\n+five\n```\nDone.\n", TEN.replace("5", "five")),
        ("```diff\n--- a/f\n+++ b/f\n@@ -5 +5 @@\n-5\n+five\n```\n", TEN.replace("5", "five")),
        ("--- a/f\n+++ b/f\n@@ -5,9 +5,7 @@ counts are wrong\n-5\n+five\n 6\n", TEN.replace("5", "five")),
        ("--- a/f\n+++ b/f\n@@\n-5\n+five\n 6\n", TEN.replace("5", "five")),
        ("--- a/f\n+++ b/f\n@@ ... @@\n-5\n+five\n 6\n", None),
        ("--- a/f\n+++ b/f\n@@ -2,0 +3,2 @@\n+a\n+b\n", TEN.replace("2\n", "2\na\nb\n")),
        ("--- a/f\n+++ b/f\n@@ -10 +10,2 @@\n 10\n+11\n\\ No newline at end of file\n", TEN + "11"),
        (
            "--- a/f\n+++ b/f\n@@ -8,2 +8,2 @@\n 8\n-9\n+nine\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n",
            TEN.replace("9", "nine").replace("1\n2", "one\n2"),
        ),
        ("diff --git f f\nindex 1..2\n--- f\n+++ f\n@@ -5 +5 @@\n-5\n+five\n", TEN.replace("5", "five")),
        (envelope("*** Update File: f", "-5", "+five"), TEN.replace("5", "five")),
        (
            envelope("*** Update File: f", "@@", " 9", "+9.5", " 10", "*** End of File"),
            TEN.replace("9\n", "9\n9.5\n"),
        ),
        (envelope("*** Update File: f", "@@ 5", "+5.5"), TEN.replace("5\n", "5\n5.5\n")),
        (envelope("*** Update File: f", "+11"), TEN + "11\n"),
    ],
)
@story
async def test_patches_as_models_write_them(tmp_path: Path, patch: str, after: str | None) -> None:
    lay_out(tmp_path, {"f": TEN})
    async with scene(tmp_path) as here:
        outcome = await here.outcome("patch", patch=patch)
    assert isinstance(outcome, Finished) is (after is not None), outcome
    assert contents(tmp_path) == {"f": (TEN if after is None else after).encode()}


@pytest.mark.parametrize(
    ("before", "patch", "after"),
    [
        (b"a\r\nb\r\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", b"a\r\nc\r\n"),
        (b"a\r\nb\r\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\n", b"a\r\nc\n"),
        (b"a\nb", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", b"a\nc"),
        (b"a\nb", "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n b\n+c\n", b"a\nb\nc"),
        (b"a\nb", "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+b\n", b"a\nb\n"),
        (b"a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n", b"a"),
        ("é\nü\n".encode("utf-16"), "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-ü\n+ö\n", "é\nö\n".encode("utf-16")),
    ],
)
@story
async def test_line_ends_stay_what_they_are(tmp_path: Path, before: bytes, patch: str, after: bytes) -> None:
    lay_out(tmp_path, {"f": before})
    async with scene(tmp_path) as here:
        await here.run("patch", patch=patch)
    assert contents(tmp_path) == {"f": after}


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (
            "fix it",
            "not a patch: it must be a unified diff (--- a/file, +++ b/file, @@ …) or begin with *** Begin Patch",
        ),
        (
            "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n-1\n+one\nno mark\n 2\n",
            "line 6 of the patch begins with neither a space, + nor -: no mark",
        ),
        ("@@ -1 +1 @@\n-1\n+2\n", "line 1 of the patch begins a change, but no file was named before it"),
        ("*** Begin Patch\n*** Delete File: f\n", "the patch does not end with *** End Patch"),
        (
            envelope("f"),
            "line 1 of the patch should name a file (*** Add File: …, *** Update File: …, *** Delete File: …), "
            "but is: f",
        ),
        (envelope("*** Update File: f"), "the patch says nothing of what is to change in f"),
        (
            envelope("*** Update File: f", "change"),
            "a line of the patch begins with neither a space, + nor -: change",
        ),
        (envelope("*** Add File: g", "x"), "every line of a file that is added begins with +, but one is: x"),
        (envelope("*** Add File: f", "+x"), "f already exists; change it with an update"),
        (envelope("*** Update File: no", "-x"), "no does not exist"),
        (envelope("*** Update File: f", "*** Move to: other"), "other already exists, so nothing can be moved there"),
        (envelope("*** Update File: other", "-x", "+y"), "other is a binary file"),
        (envelope("*** Update File: f", "@@ def g", "-1"), "f has no line 'def g', which the patch names after @@"),
        (
            envelope("*** Update File: twice", "-x"),
            "a change fits twice in 2 places (lines 1, 3); give more lines around it",
        ),
        (envelope("*** Update File: f", " 1"), "the patch changes nothing"),
        (
            "--- a/f\n+++ b/f\n@@ -4,3 +4,3 @@\n 4\n-five\n+5\n 6\n",
            "a change does not fit f: the nearest place is lines 4-6:\n4\t4\n5\t5\n6\t6\n"
            "line 5 differs in its text: you gave 'five', the file has '5'",
        ),
        (
            "--- a/f\n+++ b/f\n@@ -3,3 +3,1 @@\n-3\n-4\n-5\n+x\n@@ -4,0 +4,1 @@\n+y\n",
            "two changes to f overlap at line 5; combine them",
        ),
        (
            "diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n",
            "the patch copies a file; add the copy as a new file instead",
        ),
        ("--- a/f\n+++ b/f\n@@ -40,0 +41 @@\n+x\n", "a change goes after line 40, but f has 10 lines"),
        ("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n", "the patch deletes f but does not list all of its lines"),
        (
            "diff --git a/i.png b/i.png\nindex 1..2 100644\nBinary files a/i.png and b/i.png differ\n",
            "the patch changes a binary file, i.png; only text can be patched",
        ),
    ],
)
@story
async def test_a_patch_that_fails_says_why_and_changes_nothing(tmp_path: Path, patch: str, said: str) -> None:
    before = {"f": TEN.encode(), "other": b"\0", "twice": b"x\ny\nx\n"}
    lay_out(tmp_path, dict(before))
    async with scene(tmp_path) as here:
        assert await here.refused("patch", patch=patch) == said
        assert here.need("patch", patch=patch).problem == said
    assert contents(tmp_path) == before


@pytest.mark.quick
@story
async def test_one_file_that_does_not_fit_leaves_all_as_they_are(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a": "1\n", "b": "1\n"})
    patch = envelope("*** Update File: a", "-1", "+2", "*** Add File: c", "+3", "*** Update File: b", "-9", "+8")
    async with scene(tmp_path) as here:
        assert "a change does not fit b" in await here.refused("patch", patch=patch)
    assert contents(tmp_path) == {"a": b"1\n", "b": b"1\n"}


@story
async def test_a_file_changed_since_it_was_read_is_not_patched(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a": "1\n2\n"})
    async with scene(tmp_path) as here:
        await here.run("read", path="a")
        lay_out(tmp_path, {"a": "1\n3\n"})
        assert await here.refused("patch", patch=envelope("*** Update File: a", "-1", "+2")) == (
            "a has changed since you read it:\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\nRead it again."
        )


@story
async def test_what_a_patch_wrote_is_known_and_what_it_deleted_is_not(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a": "1\n", "b": "1\n", "c": "1\n"})
    async with scene(tmp_path) as here:
        for name in "ab":
            await here.run("read", path=name)
        patch = envelope(
            "*** Add File: new", "+1", "*** Delete File: a", "*** Update File: b", "-1", "+2",
            "*** Update File: c", "-1", "+2",
        )  # fmt: skip
        await here.run("patch", patch=patch)
        await here.run("write", path="new", content="2\n")
        await here.run("write", path="b", content="3\n")
        lay_out(tmp_path, {"a": "another\n"})
        assert "you have not read it" in await here.refused("write", path="a", content="x")
        assert "you have not read it" in await here.refused("write", path="c", content="x")


@story
async def test_a_patch_that_git_made_into_a_letter_is_understood(tmp_path: Path) -> None:
    lay_out(tmp_path, {"f": TEN})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    for old, new in (("5", "five"), ("7", "-- ")):
        lay_out(tmp_path, {"f": (tmp_path / "f").read_text().replace(old, new)})
        git(tmp_path, "commit", "-q", "-a", "-m", new)
    letters = git(tmp_path, "format-patch", "--stdout", "HEAD~2").decode()
    git(tmp_path, "reset", "-q", "--hard", "HEAD~2")
    async with scene(tmp_path) as here:
        assert await here.run("patch", patch=letters) == "edited f (+2 -2)"
    assert contents_of(tmp_path) == {"f": TEN.replace("5", "five").replace("7", "-- ").encode()}


@story
async def test_a_mode_that_a_patch_wants_is_left_to_chmod(tmp_path: Path) -> None:
    patch = (
        "diff --git a/x b/x\nnew file mode 100755\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+#!/bin/sh\n"
    )
    async with scene(tmp_path) as here:
        assert await here.run("patch", patch=patch) == (
            "created x (+1)\n(modes are not changed by a patch; use chmod)"
        )


def contents_of(root: Path) -> dict[str, bytes]:
    return {name: data for name, data in contents(root).items() if not name.startswith(".git/")}


def git(root: Path, *arguments: str) -> bytes:
    me = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "core.autocrlf=false"]
    return subprocess.run(["git", "-C", str(root), *me, *arguments], check=True, capture_output=True).stdout
