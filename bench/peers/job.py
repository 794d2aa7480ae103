"""The jobs in the words of one peer, and whether it did what it was told."""

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from bench.job import call_of, kind_of
from bench.peers.peer import Peer
from bench.server import Answer, Exchange
from tests.model_server import proposes, says

STEPS, TOKENS = 30, 20_000
_SAID = says("Done, all of it.")
# Some stop listening to a model that repeats itself.
_APERIODIC = says(" ".join(f"{number * 2654435761 % 2**32:x}" for number in range(TOKENS)))
_LAST_LINE = b"line 39: the quick brown fox"


def trivial(peer: Peer) -> list[Answer]:
    return [peer.form.answer(_SAID, 0)]


def steps(peer: Peer, folder: Path) -> list[Answer]:
    ours = [call_of(step) for step in range(STEPS)]
    calls = [replace(peer.tools.translate(call, str(folder)), id=call.id) for call in ours]
    return [peer.form.answer(said, number) for number, said in enumerate([*map(proposes, calls), _SAID])]


def tokens(peer: Peer) -> list[Answer]:
    return [peer.form.answer(_APERIODIC, 0, events_per_write=8)]


def undone(exchanges: Sequence[Exchange], folder: Path) -> list[str]:
    """The kinds of the steps that had no effect: a call that fails at once would look like a fast one."""
    missing: list[str] = []
    reads = 0
    for step, following in enumerate(exchanges[1:]):
        told = following.request_end
        match call_of(step).arguments:
            case {"path": str(path), "content": str(content)}:
                is_done = (folder / path).is_file() and (folder / path).read_text() == content
            case {"path": _}:
                reads += 1
                is_done = told.count(_LAST_LINE) >= reads
            case _:
                is_done = re.search(rb"stepped %d(?!\d)" % step, told) is not None
        if not is_done:
            missing.append(kind_of(step))
    return missing
