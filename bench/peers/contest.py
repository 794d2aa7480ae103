"""Ours, the floor and every peer that is found, each doing the same jobs in turn, so that a noisy moment hits all."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from bench.lab import starter
from bench.peers.claude import claude
from bench.peers.coder import coder, floor
from bench.peers.codex import codex
from bench.peers.contestant import STEPS, TOKENS, TURN, VERSION, Contestant
from bench.peers.gemini import gemini
from bench.peers.goose import goose
from bench.peers.iflow import iflow
from bench.peers.kimi import kimi
from bench.peers.lab import PeerLab, find
from bench.peers.opencode import opencode
from bench.peers.qwen import qwen
from bench.peers.server import peer_server

PEERS = (codex, claude, gemini, kimi, qwen, opencode, goose, iflow)
WARM_UP = 1


class Contest(Struct, frozen=True):
    contestants: Sequence[Contestant]
    not_found: Sequence[str]


def hold() -> Contest:
    found = {peer.name: program for peer in (coder, floor, *PEERS) if (program := find(peer))}
    with (
        tempfile.TemporaryDirectory(prefix="coder-bench-", ignore_cleanup_errors=True) as folder,
        peer_server() as server,
        starter() as starts,
    ):
        labs = [
            PeerLab(peer, found[peer.name], Path(folder) / peer.name, server, starts)
            for peer in (coder, floor, *PEERS)
            if peer.name in found
        ]
        contestants = [Contestant(lab) for lab in labs]
        for job in (TURN, VERSION, STEPS, TOKENS):
            sys.stderr.write(f"- {job.name}: {', '.join(each.name for each in contestants)} …\n")
            for number in range(WARM_UP + job.times):
                for contestant in contestants:
                    contestant.take(job, counts=number >= WARM_UP)
    return Contest(contestants, [peer.name for peer in PEERS if peer.name not in found])
