"""May this command run? The judge on everyday commands, each judged anew, beside a split of its words."""

import shlex
from pathlib import Path
from statistics import median

from bench.percentile import p95
from bench.stopwatch import stopwatch
from bench.table import INFORMATIONAL, Row, at_most
from coderelay.policy.judge import Policy, judge
from coderelay.policy.shell.requested_rights import rights_of
from coderelay.protocol.calls import Need
from coderelay.tools.builtin_tools import SPECS

TABLE = Path(__file__).parents[2] / "tests" / "policy" / "commands" / "everyday.txt"
TIMES = 20
SUBSTITUTIONS = 200
LONG = "cat <<EOF\n" + "\n".join(f"a $(echo {number}) b" for number in range(SUBSTITUTIONS)) + "\nEOF"
POLICY = Policy("default", SPECS, folders=("/ws",))


def measure() -> list[Row]:
    lines = [line.partition(" ")[2] for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    commands = [line.replace("⏎", "\n") for line in lines]
    _judge("ls")  # loads the parser
    ours = [min(_judge(command) for _ in range(TIMES)) for command in commands]
    floor = [min(_split(command) for _ in range(TIMES)) for command in commands]
    return [
        Row(f"judging one of {len(commands)} everyday commands, p50", "ms", median(ours), median(floor)),
        Row("judging an everyday command, p95", "ms", p95(ours), p95(floor), at_most(1, "ms")),
        Row("judging the slowest of them", "ms", max(ours), max(floor), at_most(1, "ms")),
        Row(f"judging a text of {SUBSTITUTIONS} substitutions", "ms", min(_judge(LONG) for _ in range(TIMES)), None,
            INFORMATIONAL),
    ]  # fmt: skip


def _judge(command: str) -> float:
    with stopwatch() as took:
        rights = rights_of(command)
        judge([Need(tool="bash", kind="command", title=command, command=command, rights=rights)], POLICY)
    return took.ms


def _split(command: str) -> float:
    with stopwatch() as took:
        shlex.split(command.replace("'", ""), comments=False, posix=False)
    return took.ms
