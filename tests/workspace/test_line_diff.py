"""Unified diffs of our own: right for any texts, short for long ones, and never slow."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.workspace.files.line_diff import (
    LineDifference,
    count_changes,
    cut,
    differences,
    unified_diff,
    with_ends,
)

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=12)


@given(LINES, LINES)
def test_what_is_between_the_differences_is_alike(before: list[str], after: list[str]) -> None:
    at = other_at = 0
    for change in [*differences(before, after), LineDifference(len(before), len(before), len(after), len(after))]:
        assert before[at : change.start] == after[other_at : change.other_start]
        at, other_at = change.end, change.other_end


@pytest.mark.quick
def test_few_changes_in_a_long_file_are_few_lines_of_diff() -> None:
    before = [f"{number}\n" for number in range(20_000)]
    after = list(before)
    for at in (3, 9_000, 19_990):
        after[at] = "changed\n"
    del after[12_000:12_005]
    changes = differences(before, after)
    assert (len(changes), count_changes(changes)) == (4, (3, 8))


@pytest.mark.quick
def test_lines_that_moved_are_found() -> None:
    block = [f"moved {number}\n" for number in range(300)]
    others = [f"{number}\n" for number in range(1000)]
    assert count_changes(differences([*block, *others], [*others, *block])) == (300, 300)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["x\n"] * 20_000, ["x\n", "y\n"] * 10_000),
        ([f"{number}\n" for number in range(20_000)], [f"{number}\n" for number in range(20_000, 0, -1)]),
        ([f"{number}\n" for number in range(20_000)], [f"{number // 2}!\n" for number in range(20_000)]),
    ],
)
def test_no_texts_take_long(before: list[str], after: list[str]) -> None:
    began = time.process_time()
    differences(before, after)
    assert time.process_time() - began < 2


@pytest.mark.quick
@pytest.mark.parametrize(
    ("before", "after", "diff"),
    [
        ("a\n", "a\n", ""),
        (None, "a\n", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"),
        ("a\n", None, "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"),
        (None, "", "--- /dev/null\n+++ b/f\n"),
        ("a", "b\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"),
    ],
)
def test_the_form_is_that_of_git(before: str | None, after: str | None, diff: str) -> None:
    assert unified_diff("f", before, after) == diff


@pytest.mark.quick
def test_a_cut_diff_says_how_much_is_missing() -> None:
    assert cut("a\nb\nc\nd\n", 5) == "a\nb\n… (2 more lines)\n"
    assert cut("a\nb\n", 4) == "a\nb\n"


@pytest.mark.quick
def test_only_a_line_feed_ends_a_line() -> None:
    assert with_ends("a\x0cb\u2028c\rd\ne") == ["a\x0cb\u2028c\rd\n", "e"]
