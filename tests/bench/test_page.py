"""What `python -m bench --page` writes into docs/benchmarks.md."""

from pathlib import Path

import pytest

from bench import page
from bench.page import Circumstances, rows_part, write
from bench.table import Missing, Row, at_least_times, at_most

QUIET = Circumstances(60, 0.1)
ROWS = [
    Row("a start", "ms", 120, 60, at_most(100, "ms")),
    Row("a step", "ms", 2, 1, at_most(5, "ms")),
    Row("appends", "/s", 2000, 5000, at_least_times(0.5)),
    Missing("a sandbox", "there is none"),
]


def test_a_run_names_exactly_the_budgets_that_its_own_table_misses() -> None:
    told = rows_part(ROWS, QUIET)
    assert told.splitlines()[-3:] == [
        "",
        "- **a start**: 120 ms, 2.00x; the budget is ≤ 100 ms",
        "- **appends**: 2,000 /s, 0.40x; the budget is ≥ 0.5x",
    ]
    assert told.count("| NO |") == 2
    assert rows_part(ROWS[1:2], QUIET).endswith("\nEvery budget was met in this run.")


def test_a_noisy_run_says_so() -> None:
    assert "too much for wall times" not in rows_part(ROWS, QUIET)
    assert "too much for wall times" in rows_part(ROWS, Circumstances(60, 1.5))


def test_only_the_part_between_the_marks_is_replaced(tmp_path: Path) -> None:
    copy = tmp_path / "page.md"
    copy.write_text(page.PAGE.read_text())
    whole = copy.read_text()
    write("rows", "new rows", copy)
    write("peers", "new peers", copy)
    before, begin, rest = whole.partition("<!-- rows: begin -->")
    between = rest.partition("<!-- rows: end -->")[2].partition("<!-- peers: begin -->")[0]
    after = rest.partition("<!-- peers: end -->")[2]
    assert copy.read_text() == (
        f"{before}{begin}\n\nnew rows\n\n<!-- rows: end -->{between}<!-- peers: begin -->\n\nnew peers\n\n"
        f"<!-- peers: end -->{after}"
    )


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    copy = tmp_path / "page.md"
    copy.write_text("nothing here")
    with pytest.raises(ValueError, match="no marks for rows"):
        write("rows", "new", copy)
    assert copy.read_text() == "nothing here"
