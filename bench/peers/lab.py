"""One peer in a home of its own, with a repository to work on and no way out."""

import os
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bench.job import lay_out
from bench.lab import Ran, Starter
from bench.peers.leftovers import kill, sweep
from bench.peers.peer import Peer
from bench.peers.server import PeerServer
from bench.server import Answer

MOST_SECONDS = 120.0
_AUTHOR = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")


class Failed(Exception):
    """It did not do what it was to do; the text says what it did."""


class PeerLab:
    def __init__(
        self,
        peer: Peer,
        program: str,
        folder: Path,
        server: PeerServer,
        starter: Starter,
        most_seconds: float = MOST_SECONDS,
    ) -> None:
        self.peer = peer
        self.work = folder / "work"
        self.sought: set[str] = set()
        self._argv = [program, *(self._told(text, server) for text in peer.argv[1:])]
        self._home = folder / "home"
        self._errors = folder / "stderr"
        self._server = server
        self._starter = starter
        self._most_seconds = most_seconds
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
        argv, said = [self._argv[0], "--version"], self._errors.with_name("version")
        with said.open("w") as output, suppress(subprocess.TimeoutExpired):
            subprocess.run(argv, env=self._env, cwd=self.work, stdout=output, timeout=self._most_seconds, check=False)
        sweep(self._home)
        return next((word for word in said.read_text().split() if word[0].isdigit()), "")

    def ask_version(self) -> Ran:
        return self._run([self._argv[0], "--version"])

    def run(self, answers: Sequence[Answer]) -> Ran:
        """One turn, which must use up the answers."""
        for written in self.work.glob("written*"):  # some refuse to write what they have not read
            written.unlink()
        ran = self._run(self._argv, answers)
        if len(ran.exchanges) != len(answers):
            raise Failed(f"{len(ran.exchanges)} of {len(answers)} answers were asked for: {self._last_words()}")
        return ran

    def _run(self, argv: Sequence[str], answers: Sequence[Answer] = ()) -> Ran:
        self._server.play(self.peer.form, answers)
        pid, began = self._starter.start(argv, self._env, self.work, self._errors)
        hung = threading.Event()
        watchdog = threading.Timer(self._most_seconds, self._end, (pid, hung))
        watchdog.start()
        ended = self._starter.wait(pid)
        watchdog.cancel()
        sweep(self._home)
        self.sought |= self._server.sought
        if hung.is_set():
            raise Failed(f"still running after {self._most_seconds:g} s, killed: {self._last_words()}")
        if ended["code"] != 0:
            raise Failed(f"exit code {ended['code']}: {self._last_words()}")
        return Ran(began, ended["ended"], ended["cpu"], ended["rss"], self._server.exchanges)

    def _end(self, pid: int, hung: threading.Event) -> None:
        hung.set()
        kill(pid)

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
