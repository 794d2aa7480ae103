"""One peer in a home of its own, with a repository to work on and no way out."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bench.job import lay_out
from bench.lab import Ran, Starter
from bench.peers.peer import Peer
from bench.peers.server import PeerServer
from bench.server import Answer

MOST_SECONDS = 120.0
_AUTHOR = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")


class Failed(Exception):
    """It did not do what it was to do; the text says what it did."""


class PeerLab:
    def __init__(self, peer: Peer, program: str, folder: Path, server: PeerServer, starter: Starter) -> None:
        self.peer = peer
        self.work = folder / "work"
        self.sought: set[str] = set()
        self._argv = [program, *(self._told(text, server) for text in peer.argv[1:])]
        self._home = folder / "home"
        self._errors = folder / "stderr"
        self._server = server
        self._starter = starter
        self._env = _env(folder, server) | {name: self._told(text, server) for name, text in peer.env.items()}
        for made in (self.work, self._home, folder / "tmp"):
            made.mkdir(parents=True)
        for name, text in peer.files.items():
            (self._home / name).parent.mkdir(parents=True, exist_ok=True)
            (self._home / name).write_text(self._told(text, server))
        lay_out(self.work)
        _commit(self.work, self._env)

    def version(self) -> str:
        """As it says itself: the first word that begins with a digit. Empty: it does not say."""
        if not self.peer.has_version:
            return ""
        argv = [self._argv[0], "--version"]
        with suppress(subprocess.SubprocessError):
            said = subprocess.run(argv, env=self._env, cwd=self.work, capture_output=True, text=True, timeout=60)
            return next((word for word in said.stdout.split() if word[0].isdigit()), "")
        return ""

    def ask_version(self) -> Ran:
        return self._run([self._argv[0], "--version"])

    def run(self, answers: Sequence[Answer]) -> Ran:
        """One turn, which must use up the answers."""
        for written in self.work.glob("written*"):  # some refuse to write what they have not read
            written.unlink()
        self._server.play(self.peer.form, answers)
        ran = self._run(self._argv)
        if len(ran.exchanges) != len(answers):
            raise Failed(f"{len(ran.exchanges)} of {len(answers)} answers were asked for: {self._last_words()}")
        return ran

    def _run(self, argv: Sequence[str]) -> Ran:
        pid, began = self._starter.start(argv, self._env, self.work, self._errors)
        hung = threading.Event()
        watchdog = threading.Timer(MOST_SECONDS, self._kill, (pid, hung))
        watchdog.start()
        ended = self._starter.wait(pid)
        watchdog.cancel()
        self._sweep()
        self.sought |= self._server.sought
        if hung.is_set():
            raise Failed(f"still running after {MOST_SECONDS:.0f} s, killed: {self._last_words()}")
        if ended["code"] != 0:
            raise Failed(f"exit code {ended['code']}: {self._last_words()}")
        return Ran(began, ended["ended"], ended["cpu"], ended["rss"], self._server.exchanges)

    def _sweep(self) -> None:
        """End what it started and left behind."""
        deadline = time.monotonic() + 5
        while (pids := _at_home_in(self._home)) and time.monotonic() < deadline:
            for pid in pids:
                _kill(pid)
            time.sleep(0.01)

    def _kill(self, pid: int, hung: threading.Event) -> None:
        hung.set()
        _kill(pid)

    def _last_words(self) -> str:
        return " ".join(self._errors.read_text(errors="replace").split())[-400:]

    @staticmethod
    def _told(text: str, server: PeerServer) -> str:
        return text.replace("{url}", server.url)


def find(peer: Peer) -> str | None:
    return shutil.which(peer.argv[0])


def _env(folder: Path, server: PeerServer) -> dict[str, str]:
    """Nothing of the person's own but where programs are; and whoever looks outside is refused by our own server."""
    names = ("http_proxy", "https_proxy", "all_proxy")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        **dict.fromkeys(names, server.url),
        **{name.upper(): server.url for name in names},
        "no_proxy": "127.0.0.1,localhost",
        "NO_PROXY": "127.0.0.1,localhost",
    }


def _commit(work: Path, env: Mapping[str, str]) -> None:
    """Many of them look for a repository, and some keep their snapshots in it."""
    if git := shutil.which("git"):
        for arguments in (("init", "-q"), ("add", "-A"), (*_AUTHOR, "commit", "-q", "-m", "Files to read")):
            subprocess.run([git, *arguments], cwd=work, env=env, check=True, stdout=subprocess.DEVNULL)


def _at_home_in(home: Path) -> list[int]:
    """The processes that were told that this is their home: the peer, and what it started."""
    mark = f"\0HOME={home}\0".encode()
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit() and mark in _environment(each)]


def _environment(process: Path) -> bytes:
    with suppress(OSError):  # it has ended, or is another person's
        return b"\0" + (process / "environ").read_bytes()
    return b""


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
