"""The tables people read are the ones that count."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from coderelay.policy.preset_tables import PRESETS, ModeTable, matrix_in_words, table_of

PLAN, YOLO = table_of("plan", "balanced"), table_of("yolo", "balanced")

pytestmark = pytest.mark.quick

DOCS = Path(__file__).parents[2] / "docs" / "permissions.md"
COLUMNS: dict[str, ModeTable] = {
    "`plan`": PLAN,
    "strict": PRESETS["strict"],
    "balanced": PRESETS["balanced"],
    "auto-edit": PRESETS["auto-edit"],
    "yolo (preset)": PRESETS["yolo"],
    "`yolo` (mode)": YOLO,
}


def test_c05_c22_the_documented_table_is_the_one_in_force() -> None:
    lines = re.findall(r"^\|(.*)\|$", DOCS.read_text(), re.MULTILINE)
    head, _, *rows = [[cell.strip() for cell in line.split("|")] for line in lines[: 2 + len(matrix_in_words(PLAN))]]
    assert head == ["", *COLUMNS]
    assert [[row[0].replace("`", ""), *row[1:]] for row in rows] == [
        [what, *(dict(matrix_in_words(table))[what] for table in COLUMNS.values())]
        for what, _ in matrix_in_words(PLAN)
    ]


def test_c22_a_preset_is_what_default_means_and_nothing_else() -> None:
    for preset, table in PRESETS.items():
        assert table_of("default", preset) == table
        assert [table_of(mode, preset) for mode in ("plan", "auto-edit", "yolo")] == [
            PLAN,
            PRESETS["auto-edit"],
            YOLO,
        ]


def test_no_preset_is_freer_in_any_cell_than_the_next() -> None:
    order = ["deny", "ask", "sandboxed", "allow"]
    ranks = [[order.index(cell) for _, cell in matrix_in_words(table)] for table in PRESETS.values()]
    for stricter, freer in pairwise(ranks):
        assert all(one <= other for one, other in zip(stricter, freer, strict=True))
