"""One process, 1,000 sessions, 50 words a second each: does it keep up, and what does it cost?

`talk`: nothing but words. `work`: also 100 tool steps a second, so that the log is written meanwhile. The floor takes
the words from the same models and does nothing with them.
"""

import json

from bench.lab import Lab, lab
from bench.processes import CROWD
from bench.table import INFORMATIONAL, Row, at_least, at_most


def measure() -> list[Row]:
    with lab() as here:
        floor, talk, work = (_crowd(here, kind) for kind in ("floor", "talk", "work"))
    return [
        Row("1,000 sessions x 50 tokens/s, taken", "/s", talk["words"], floor["words"], at_least(47_500, "/s")),
        Row("- worst lag of a follower", "s", talk["lag"], None, at_most(0.5, "s")),
        Row("- CPU", "cores", talk["cores"], floor["cores"], INFORMATIONAL),
        Row("- memory after 10 s", "MB", talk["memory"], floor["memory"], INFORMATIONAL),
        Row("- all 1,000 turns have begun after", "s", talk["start"], None, INFORMATIONAL),
        Row("- all 1,000 have ended after", "s", talk["end"], None, INFORMATIONAL),
        Row("the same with 100 tool steps/s, taken", "/s", work["words"], floor["words"], INFORMATIONAL),
        Row("- worst lag of a follower, steps included", "s", work["lag"], None, INFORMATIONAL),
        Row("- CPU", "cores", work["cores"], floor["cores"], INFORMATIONAL),
    ]


def _crowd(here: Lab, kind: str) -> dict[str, float]:
    report = here.work / f"{kind}.json"
    here.wait(*here.start([*CROWD, kind, str(report)]))
    return json.loads(report.read_text())
