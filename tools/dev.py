"""`make dev`: the web app with live reload on PORT, and the server behind it. What an earlier run left behind is
ended first, so that its ports are free."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from coderelay.cli.web import DEV_PORT
from coderelay.surfaces.local_listener import WEB_PORT

ROOT = Path(__file__).parents[1]
VITE = ROOT / "web" / "node_modules" / "vite" / "bin" / "vite.js"
_RECORDS = ROOT / ".dev_processes"


def main() -> int:
    port, web_port = os.environ.get("PORT", str(DEV_PORT)), os.environ.get("CODER_WEB_PORT", str(WEB_PORT))
    record = _RECORDS / f"{port}.json"
    _end_earlier(record)
    env = {**os.environ, "PORT": port, "CODER_WEB_PORT": web_port}
    signal.signal(signal.SIGTERM, _leave)
    running: list[subprocess.Popen[str]] = []
    try:
        server = [sys.executable, "-m", "coderelay.cli", "web", "--dev", "--no-open", "--port", web_port]
        running.append(subprocess.Popen(server, env=env, stdout=subprocess.PIPE, text=True))
        _write(record, running)
        assert running[0].stdout is not None
        link = running[0].stdout.readline().strip()
        if not link:
            return running[0].wait()  # it has said why
        page = ["node", str(VITE), "--logLevel", "warn"]
        running.append(subprocess.Popen(page, env=env, cwd=ROOT / "web", text=True))
        _write(record, running)
        _wait(lambda: running[1].poll() is not None or _listens(int(port)), seconds=60.0)
        sys.stdout.write(re.sub(r"//[^/]+/", f"//localhost:{port}/", link) + "\n")
        sys.stdout.flush()
        return running[1].wait()
    except KeyboardInterrupt:
        return 130
    finally:
        _end([psutil.Process(each.pid) for each in running if each.poll() is None])
        record.unlink(missing_ok=True)


def _leave(*_: object) -> None:
    sys.exit(0)


def _end_earlier(record: Path) -> None:
    """A process counts only if it began when the record says: its number may belong to another one by now."""
    try:
        recorded: list[tuple[int, float]] = json.loads(record.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return
    found: list[psutil.Process] = []
    for pid, began in recorded:
        try:
            process = psutil.Process(pid)
            if process.create_time() == began:
                found.append(process)
        except psutil.NoSuchProcess:
            pass  # it has ended by itself
    _end(found)


def _write(record: Path, running: list[subprocess.Popen[str]]) -> None:
    processes = [(each.pid, psutil.Process(each.pid).create_time()) for each in running]
    record.parent.mkdir(exist_ok=True)
    record.write_text(json.dumps(processes), encoding="utf-8")


def _end(processes: list[psutil.Process]) -> None:
    left = [each for each in processes if not is_gone(each)]
    for each in left:
        each.terminate()
    _wait(lambda: all(map(is_gone, left)), seconds=10.0)
    for each in left:
        if not is_gone(each):
            each.kill()


def is_gone(process: psutil.Process) -> bool:
    """Also if nobody has taken note of its end."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("localhost", port), timeout=1.0).close()
    except OSError:
        return False
    return True


def _wait(is_so: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not is_so() and time.monotonic() < until:
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
