"""A process that has loaded the product and forks itself for every program that a test asks it for.

    python -m tests.fork_server 5      # the number of a socket; `tests.forked_process` is at its other end

Loading the product takes more time than a short turn, and the tests of kills start thousands of processes. A forked
process is a real one, with its own pid, descriptors, environment and end by kill -9. It differs from a started one in
`/proc/PID/cmdline` and `/proc/PID/environ`, which are those of the server.
"""

import asyncio
import fcntl
import gc
import os
import socket
import sys
import termios
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import msgspec

from coderelay import cli
from coderelay.cli import answer, asks, resume, sessions  # from here on, what the programs would load late
from coderelay.cli.startup import run_full_repl, show_prompt_while_loading
from coderelay.config import edit_config
from coderelay.config.detect import model_detection
from coderelay.host import git_turn_snapshots, live_command_output
from coderelay.models.openai_chat import model
from coderelay.policy.shell import (
    allow_rule_matching,
    approximate_bash_words,
    command_verdict,
    deny_and_ask_rule_matching,
)
from coderelay.policy.shell.programs import build_tools
from coderelay.store.postgres import store as postgres_store
from coderelay.surfaces import headless
from coderelay.surfaces.terminal import picker, plain_repl
from coderelay.surfaces.terminal.drawing import diffs, markdown_stream, syntax_highlighting
from coderelay.workspace.sandbox import bubblewrap, sandlock_policy, session_sandbox
from coderelay.workspace.trees import snapshots
from tests.background import stop_process
from tests.blocking import holding
from tests.crash import commanding, crashing, undoing
from tests.forked_process import Reap, Start

LOADED_EARLY = (
    *(answer, asks, resume, sessions, edit_config, model_detection, live_command_output, git_turn_snapshots),
    *(model, postgres_store, headless),
    *(allow_rule_matching, build_tools, command_verdict, deny_and_ask_rule_matching, approximate_bash_words),
    *(bubblewrap, sandlock_policy, session_sandbox, snapshots),
    *(show_prompt_while_loading, run_full_repl, picker, plain_repl, syntax_highlighting, diffs, markdown_stream),
)
PROGRAMS: dict[str, Callable[[], object]] = {
    "coder": cli.run,
    "crashing": crashing.main,
    "commanding": lambda: asyncio.run(commanding.main(*sys.argv[1:])),
    "undoing": lambda: asyncio.run(undoing.main()),
    "holding": lambda: asyncio.run(holding.main(*sys.argv[1:])),
    "stopping": lambda: asyncio.run(stop_process.main(*sys.argv[1:])),
}


def main(descriptor: int) -> None:
    gc.freeze()  # what is loaded stays shared
    with socket.socket(fileno=descriptor) as door:
        while True:
            request, streams, _, _ = socket.recv_fds(door, 1 << 20, 3)
            if not request:
                return
            door.send(
                msgspec.msgpack.encode(_answer(msgspec.msgpack.decode(request, type=Start | Reap), door, streams))
            )


def _answer(request: Start | Reap, door: socket.socket, streams: list[int]) -> int:
    if isinstance(request, Reap):
        return os.waitpid(request.pid, 0)[1]
    pid = os.fork()
    if pid == 0:
        door.close()
        _become(request, streams)
    for stream in streams:
        os.close(stream)
    return pid


def _become(start: Start, streams: list[int]) -> NoReturn:
    syntax_highlighting: object = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        if start.at_terminal:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C and a new size reach it as signals
            sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115 - until the process ends
        os.environ.clear()
        os.environ.update({os.fsdecode(name): os.fsdecode(value) for name, value in start.env.items()})
        os.chdir(start.cwd)
        sys.argv = [start.program, *map(os.fsdecode, start.arguments)]
        syntax_highlighting = PROGRAMS[start.program]()
    except SystemExit as left:
        syntax_highlighting = left.code
    except BaseException:  # noqa: BLE001 - nothing may go back to the server's loop
        traceback.print_exc()
    with suppress(OSError):  # the reader, or the terminal, is gone
        sys.stdout.flush()
    os._exit(syntax_highlighting if isinstance(syntax_highlighting, int) else 1)


if __name__ == "__main__":
    main(int(sys.argv[1]))
