"""`python -m bench.eval [--model PROVIDER:NAME] [--record] [TASK …]`: how many of the tasks a model solves."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.eval.tasks import TASKS, Task
from bench.eval.trend import record

ROOT = Path(__file__).parents[2]
HOME = ROOT / ".venv" / "coder-home"  # where weights are kept between runs
CODER = str(Path(sys.executable).with_name("coder"))
SMALL = "local:qwen2.5-coder-1.5b"


class Tried(Struct, frozen=True):
    solved: bool
    seconds: float
    answer: str


class _Result(Struct, frozen=True):
    result: str = ""


def main() -> int:
    options = _parser().parse_args()
    if unknown := set(options.tasks) - {task.name for task in TASKS}:
        sys.exit(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(task.name for task in TASKS)}")
    if options.model.startswith("local:") and not _installed(options.model):
        return 1
    tasks = [task for task in TASKS if not options.tasks or task.name in options.tasks]
    tried = [_show(task, _try(task, options)) for task in tasks]
    solved, seconds = sum(each.solved for each in tried), sum(each.seconds for each in tried)
    print(f"\n{options.model}: {solved} of {len(tried)} solved, {seconds:.0f} s")
    if options.record:
        record(options.model, solved, len(tried), seconds)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.eval", description="Small tasks, judged by their effect.")
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--model", default=SMALL, metavar="PROVIDER:NAME")
    parser.add_argument("--max-steps", type=int, default=8, metavar="N")
    parser.add_argument("--seconds", type=float, default=300, metavar="S", help="at most so long for each")
    parser.add_argument("--record", action="store_true", help="add a row to docs/benchmarks.md")
    return parser


def _installed(model: str) -> bool:
    """Asks first if it is not."""
    argv = [CODER, "model", "install", model.partition(":")[2]]
    return subprocess.run(argv, env=os.environ | {"CODER_HOME": str(HOME)}, check=False).returncode == 0


def _try(task: Task, options: argparse.Namespace) -> Tried:
    with tempfile.TemporaryDirectory(prefix="coder-eval-", ignore_cleanup_errors=True) as folder:
        work, home = Path(folder) / "work", Path(folder) / "home"
        home.mkdir()
        (home / "models").symlink_to(HOME / "models")
        _lay_out(task, work)
        began = time.monotonic()
        answer = _answer(task, work, home, options)
        return Tried(task.solved(work, answer), time.monotonic() - began, answer)


def _lay_out(task: Task, work: Path) -> None:
    work.mkdir()
    identity = ["-c", "user.name=eval", "-c", "user.email=eval@localhost"]
    for argv in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "begin"]):
        subprocess.run(["git", *argv], cwd=work, check=True)
    for setting in ("user.name=eval", "user.email=eval@localhost"):
        subprocess.run(["git", "config", *setting.split("=")], cwd=work, check=True)
    for name, content in task.files.items():
        (work / name).write_text(content)


def _answer(task: Task, work: Path, home: Path, options: argparse.Namespace) -> str:
    argv: Sequence[str] = [
        *(CODER, "-p", task.prompt, "--mode", "yolo", "--model", options.model),
        *("--max-steps", str(options.max_steps), "--output", "json"),
    ]
    env = os.environ | {"CODER_HOME": str(home)}
    try:
        ran = subprocess.run(argv, cwd=work, env=env, capture_output=True, timeout=options.seconds, check=False)
    except subprocess.TimeoutExpired:
        return ""
    try:
        return msgspec.json.decode(ran.stdout.splitlines()[-1], type=_Result).result if ran.stdout else ""
    except msgspec.DecodeError:
        return ""


def _show(task: Task, tried: Tried) -> Tried:
    line = " ".join(tried.answer.split())[:80]
    print(f"{'✓' if tried.solved else '✗'} {task.name:20} {tried.seconds:5.1f} s  {line}", flush=True)
    return tried


if __name__ == "__main__":
    sys.exit(main())
