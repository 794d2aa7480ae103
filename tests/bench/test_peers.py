"""Peers are run as strangers: they may hang, look outside, or not do what they are told."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import pytest
from msgspec.structs import replace

from bench.lab import starter
from bench.peers import job
from bench.peers.coder import coder, floor
from bench.peers.contestant import STEPS, TURN, Contestant
from bench.peers.lab import Failed, PeerLab
from bench.peers.peer import Peer, Tools
from bench.peers.server import peer_server
from tests.model_server import bash, read

HANGS = """\
import subprocess, time
left = subprocess.Popen(["sleep", "1000"], start_new_session=True)
open("left", "w").write(str(left.pid))
time.sleep(1000)
"""
LOOKS_OUTSIDE = """\
import urllib.request, urllib.error
try:
    urllib.request.urlopen("https://example.com/")
except urllib.error.URLError as refused:
    assert "403" in str(refused), refused
"""


class Open(Protocol):
    def __call__(self, peer: Peer, most_seconds: float = 60.0) -> PeerLab: ...


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    with peer_server() as server, starter() as starts:

        def lab(peer: Peer, most_seconds: float = 60.0) -> PeerLab:
            return PeerLab(peer, peer.argv[0], tmp_path / peer.name, server, starts, most_seconds)

        yield lab


def _stranger(program: str) -> Peer:
    return Peer("stranger", (sys.executable, "-c", program), floor.tools, has_version=False)


def _is_alive(pid: str) -> bool:
    with suppress(OSError):  # nobody has it, or its parent has yet to hear of its end
        return bool(Path(f"/proc/{pid}/environ").read_bytes())
    return False


def test_a_peer_that_hangs_is_killed_with_what_it_started(opened: Open) -> None:
    lab = opened(_stranger(HANGS), most_seconds=3)
    with pytest.raises(Failed, match="still running after 3 s, killed"):
        lab.run(job.trivial(lab.peer))
    assert not _is_alive((lab.work / "left").read_text())


def test_a_peer_that_looks_outside_is_refused_and_that_is_told(opened: Open) -> None:
    lab = opened(_stranger(LOOKS_OUTSIDE))
    lab.run([])
    assert lab.sought == {"example.com:443"}


def test_a_peer_that_fails_is_not_asked_for_more(opened: Open) -> None:
    contestant = Contestant(opened(_stranger("raise SystemExit('no such model')")))
    for todo in (TURN, STEPS):
        contestant.take(todo, counts=True)
    assert (contestant.notes(), contestant.ran(STEPS)) == (["one turn: exit code 1: no such model"], ())


def test_steps_without_effect_do_not_count_as_fast_ones(opened: Open) -> None:
    reads_only = Tools(read, lambda path, content: read("read0.txt"), bash)
    contestant = Contestant(opened(replace(floor, tools=reads_only)))
    contestant.take(STEPS, counts=True)
    assert (contestant.notes(), contestant.ran(STEPS)) == (["30 steps: no write step had an effect"], ())


@pytest.mark.parametrize("ours", [coder, floor], ids=lambda peer: peer.name)
def test_ours_does_the_job_of_the_peers(opened: Open, ours: Peer) -> None:
    lab = opened(ours)
    ran = lab.run(job.steps(ours, lab.work))
    assert (job.undone(ran.exchanges, lab.work), len(ran.step_ms), lab.sought) == ([], 30, set())
