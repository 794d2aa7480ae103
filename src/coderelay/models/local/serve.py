"""Serves one file of weights on a loopback port until whoever started it closes its input, or is gone.

A script of its own, never imported. In: one line of JSON, {"path", "key", "context", "parent"}. Out: one line,
{"address"}; none if it could not begin, and then the reason is among what was written to standard error.
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
TEMPERATURE = 0.2  # a small model that is free to wander does


def main() -> None:
    order = json.loads(sys.stdin.buffer.readline())
    end_with(order["parent"])
    reply = os.dup(1)
    os.dup2(2, 1)  # whatever a library prints is no reply
    server: Any = import_module("xllamacpp").Server(parameters(order))
    os.write(reply, json.dumps({"address": server.listening_address}).encode() + b"\n")
    sys.stdin.buffer.read()
    os._exit(0)  # in the middle of an answer, if need be


def end_with(parent: int) -> None:
    """The end of our input says so too, but is not heard while the weights are loaded."""
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
