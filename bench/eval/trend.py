"""Results of evals, a row each, in docs/benchmarks.md."""

import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
HEADING = "## Small tasks, real models\n"
TABLE = f"""
{HEADING}
`make eval`: {{total}} tasks (`bench/eval/tasks.py`), each judged by its effect, in mode yolo with at most 8 steps.

| day | commit | model | solved | seconds |
| --- | --- | --- | --: | --: |
"""


def record(model: str, solved: int, total: int, seconds: float) -> None:
    """The table is the last thing on its page, so a row is added at the end."""
    page = PAGE.read_text()
    if HEADING not in page:
        page += TABLE.format(total=total)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    row = f"| {time.strftime('%Y-%m-%d')} | `{commit}` | {model} | {solved} of {total} | {seconds:.0f} |\n"
    PAGE.write_text(page + row)
