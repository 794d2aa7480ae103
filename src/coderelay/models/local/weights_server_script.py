"""Script that serves one file of weights on a loopback port until its parent closes its input or dies.

It is run as a script, never imported. Input: one line of JSON, {"path", "key", "context", "parent"}. Output: one
line, {"address"}; no line if it could not start, and then the reason is in what was written to standard error.
"""

import ctypes
import json
import os
import signal
import sys
from importlib import import_module  # noqa: TID251 - xllamacpp is an extra, and has no types
from typing import Any

PR_SET_PDEATHSIG = 1
LOG_ERRORS = 1
TEMPERATURE = 0.0  # at higher temperatures a small model wanders


def main() -> None:
    order = json.loads(sys.stdin.buffer.readline())
    end_with(order["parent"])
    reply = os.dup(1)
    os.dup2(2, 1)  # what a library prints must not be taken for the reply
    server: Any = import_module("xllamacpp").Server(parameters(order))
    os.write(reply, json.dumps({"address": server.listening_address}).encode() + b"\n")
    sys.stdin.buffer.read()
    os._exit(0)  # in the middle of an answer, if need be


def end_with(parent: int) -> None:
    """End this process with its parent. The end of our input says so too, but is not noticed while the weights are
    loaded."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def parameters(order: dict[str, Any]) -> Any:
    chosen: Any = import_module("xllamacpp").CommonParams()
    chosen.model.path = order["path"]
    chosen.api_keys = [order["key"]]
    chosen.hostnames = ["127.0.0.1"]
    chosen.port = 0
    chosen.n_ctx = order["context"]
    chosen.n_parallel = 1
    chosen.cache_ram_mib = 0
    chosen.sampling.temp = TEMPERATURE
    chosen.ui = False
    chosen.endpoint_slots = False
    chosen.verbosity = LOG_ERRORS
    return chosen


if __name__ == "__main__":
    main()
