"""Whatever befalls a process, it ends as it was told to, and the next one finds the session whole.

Signals at random moments, standard streams that are closed, full, stalled or broken, a disk without room, and a
database whose -wal file is taken away: each effect happens once, nothing acknowledged is lost, nobody sees a
traceback, and no process ends by a signal that nobody sent.
"""

import json
import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.coder_process import PROGRAM, Coder
from tests.crash.journey import Journey, job
from tests.crash.streams import STREAMS, Stream, StreamedProcess
from tests.model_server import by_history, model_server_thread

RUNS = int(os.environ.get("CODER_SOAK", "4"))
FEW_RUNS = max(RUNS // 5, 2)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGSTOP)
LATER_EVENTS = 3  # shown after a removal, until an append must have found it out
FAULTS = ("Traceback", "Exception ignored", "Fatal Python error", "never retrieved")


@pytest.mark.parametrize("seed", range(RUNS))
def test_random_signals_and_streams_leave_the_session_whole(journey: Journey, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(chance.randint(1, 3)):
        run_somehow(journey, chance, f"do some{number}")
    journey.carry_on()
    journey.check()


def run_somehow(journey: Journey, chance: random.Random, prompt: str) -> None:
    """One process with streams and a signal by chance."""
    form = chance.choice(["text", "json", "stream-json"])
    out, err = chance.choice(STREAMS), chance.choice(STREAMS)
    process = start(journey, "-p", prompt, *journey.go_on(), form=form, out=out, err=err)
    sent = chance.choice(SIGNALS)
    time.sleep(chance.uniform(0.02, 0.6))
    process.send(sent)
    if sent is signal.SIGSTOP:
        time.sleep(chance.uniform(0.0, 0.2))
        process.send(signal.SIGCONT)
    finish(journey, process, sent)


def finish(journey: Journey, process: StreamedProcess, sent: signal.Signals | None = None) -> None:
    code, written, told = process.finish()
    case = f"{process.arguments}: {sent}: {code}\n{told}"
    assert code >= 0 or -code == sent, case
    assert _is_before_us(told, sent) or not [fault for fault in FAULTS if fault in told], case
    lines = written.splitlines(keepends=True)
    if "stream-json" in process.arguments:
        journey.printed.append([line for line in lines if line.endswith("\n")])


def _is_before_us(told: str, sent: signal.Signals | None) -> bool:
    """Whether Ctrl-C came while Python itself was starting, which tells of it in its own way. On a busy machine that
    takes longer than the test waits."""
    return sent is signal.SIGINT and "KeyboardInterrupt" in told and "coderelay" not in told


def start(
    journey: Journey, *arguments: str, form: str = "stream-json", out: Stream = "read", err: Stream = "read"
) -> StreamedProcess:
    env = journey.coder.env | {"HOME": str(journey.coder.home)}  # marks the process, for `Journey.left_over`
    command = [*PROGRAM, *arguments, "--mode", "yolo", "--output", form]
    return StreamedProcess(command, cwd=journey.coder.cwd, env=env, out=out, err=err)


@pytest.mark.parametrize("seed", range(FEW_RUNS))
def test_random_removal_of_the_wal_loses_nothing_acknowledged(journey: Journey, seed: int) -> None:
    """What only the removed file holds is lost if nothing is appended before the kill (0019). So the kill comes after
    some events that were shown after the removal, however late that was: the first may have been on its way."""
    chance = random.Random(seed)
    process = start(journey, "-p", "do first")
    process.wait_for_lines(chance.randint(1, 10))
    with suppress(FileNotFoundError):
        (journey.coder.home / "sessions.db-wal").unlink()
    shown = len([*filter(_is_an_event, process.lines())])
    if chance.random() < 0.7:
        process.wait_for_lines(shown + LATER_EVENTS, of=_is_an_event)
        process.send(signal.SIGKILL)
    finish(journey, process, signal.SIGKILL)
    journey.carry_on()
    journey.check()


def _is_an_event(line: str) -> bool:
    """Whether a line of `stream-json` tells of the log, not of a message while it is written."""
    return json.loads(line)["type"] in ("assistant", "user", "result")


@pytest.mark.parametrize("seed", range(FEW_RUNS))
def test_random_lack_of_room_repeats_nothing_and_loses_nothing(small_disk: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder = tmp_path / "work"
    folder.mkdir()
    ballast = small_disk / "ballast"
    with model_server_thread(by_history(job)) as server:
        journey = Journey(Coder(small_disk / "home", folder, server.base_url), server)
        process = start(journey, "-p", "do first")
        process.wait_for_lines(chance.randint(0, 10))
        with suppress(OSError):
            ballast.write_bytes(bytes(16 << 20))
        finish(journey, process)
        ballast.unlink(missing_ok=True)
        journey.carry_on()
        journey.check()
