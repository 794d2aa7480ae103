"""Changed files in lines, and one file or folder out of a diff."""

import pytest

from coderelay.client.commands.diff_undo_rewind import changed_line, diff_of
from coderelay.protocol.query_results import FileChange, FilesDiff
from coderelay.surfaces.terminal.input.completion import changed_names

_ADDED = "diff --git a/sub/c b/sub/c\nnew file mode 100644\n--- /dev/null\n+++ b/sub/c\n@@ -0,0 +1 @@\n+++ b/other\n"
_NEXT_TO_IT = (
    "diff --git a/subway b/subway\n--- a/subway\n+++ b/subway\n@@ -1 +1 @@\n-diff --git a/sub/c b/sub/c\n+x\n"
)
_RENAMED = "diff --git a/old b/new name\nsimilarity index 100%\nrename from old\nrename to new name\n"
_EMPTY = "diff --git a/nothing in it b/nothing in it\nnew file mode 100644\nindex 0000000..e69de29\n"
_BINARY = "diff --git a/p.png b/p.png\nindex 1..2 100644\nBinary files a/p.png and b/p.png differ\n"
_WHOLE = _ADDED + _NEXT_TO_IT + _RENAMED + _EMPTY + _BINARY
_CHANGES = (
    FileChange("sub/c", "added", added=1),
    FileChange("subway", "modified", added=1, deleted=1),
    FileChange("new name", "renamed", was="old"),
    FileChange("nothing in it", "added"),
    FileChange("p.png", "modified", binary=True),
)


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("sub/c", _ADDED),
        ("sub", _ADDED),
        ("subway", _NEXT_TO_IT),
        ("old", _RENAMED),
        ("new name", _RENAMED),
        ("nothing in it", _EMPTY),
        ("p.png", _BINARY),
        ("other", ""),
        ("su", ""),
        (".", _WHOLE),
    ],
)
def test_c29_a_part_of_a_diff_is_found_by_its_file_or_folder(path: str, part: str) -> None:
    assert diff_of(FilesDiff(_WHOLE, _CHANGES), path) == part


def test_c29_each_changed_file_has_a_line_and_a_name() -> None:
    assert [changed_line(each) for each in _CHANGES] == [
        "added        +1 -0  sub/c",
        "modified     +1 -1  subway",
        "renamed      +0 -0  old → new name",
        "added        +0 -0  nothing in it",
        "modified    binary  p.png",
    ]
    assert changed_names(FilesDiff(_WHOLE, _CHANGES)) == [
        "sub/c",
        "subway",
        "old",
        "new name",
        "nothing in it",
        "p.png",
    ]
