"""Starts and awaits the processes that are measured. A script of its own, never imported.

Small on purpose: the kernel counts the memory of whoever starts a process into that process's peak.
One JSON object per line in and out: {argv, env, cwd, errors, terminal} gives {pid, began}, {wait: pid} gives
{code, ended, cpu, rss}. With the name of a terminal, it becomes the process's own.
"""

import json
import os
import sys
import time
from typing import Any


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        answer = wait(request["wait"]) if "wait" in request else start(**request)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def start(argv: list[str], env: dict[str, str], cwd: str, errors: str, terminal: str) -> dict[str, Any]:
    os.chdir(cwd)
    streams = [
        (os.POSIX_SPAWN_OPEN, 0, terminal or os.devnull, os.O_RDWR, 0),
        (os.POSIX_SPAWN_OPEN, 1, terminal or os.devnull, os.O_RDWR, 0),
        (os.POSIX_SPAWN_OPEN, 2, errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    began = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, env, file_actions=streams, setsid=bool(terminal))
    return {"pid": pid, "began": began}


def wait(pid: int) -> dict[str, Any]:
    _, status, used = os.wait4(pid, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "ended": time.perf_counter(),
        "cpu": used.ru_utime + used.ru_stime,
        "rss": used.ru_maxrss / 1024,
    }


if __name__ == "__main__":
    main()
