"""Stands in for the real library where that is not installed: same names, and a scripted model behind them.

What the weights hold says how it behaves. Beside them it notes its process and what it was told.
"""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.model_server import Answer, History, by_history, hangs, model_server_thread, says


class CommonParams:
    def __init__(self) -> None:
        self.model = SimpleNamespace(path="")
        self.sampling = SimpleNamespace(temp=0.8)
        self.api_keys: list[str] = []
        self.hostnames: list[str] = []
        self.port = -1
        self.n_ctx = 0
        self.n_parallel = 4
        self.cache_ram_mib = 8192
        self.ui = True
        self.endpoint_slots = True
        self.verbosity = 3


class Server:
    def __init__(self, params: CommonParams) -> None:
        path = Path(params.model.path)
        behaviour = path.read_text().removeprefix("GGUF").strip()
        print("chatter of a library")
        _note(path, params)
        match behaviour:
            case "broken":
                sys.stderr.write("0.00.1 E gguf_init: the tensors are missing\n0.00.2 E srv init: exiting\n")
                raise RuntimeError("Failed to init server, please check the input params.")
            case "never":
                os.read(os.pipe()[0], 1)
            case _:
                self._door: Any = model_server_thread(by_history(_hanging if behaviour == "hangs" else _echo))
                self.listening_address = self._door.__enter__().base_url.removesuffix("/v1")


def _note(path: Path, params: CommonParams) -> None:
    told: dict[str, Any] = {
        "pid": os.getpid(),
        "keys": params.api_keys,
        "hosts": params.hostnames,
        "context": params.n_ctx,
        "environment": sorted(os.environ),
    }
    path.with_suffix(".json").write_text(json.dumps(told))  # whoever waits for it has made a pipe of it


def _echo(history: History) -> Answer:
    return says(json.dumps({"answer": f"heard: {history[-1].text}"}))


def _hanging(_: History) -> Answer:
    return hangs(says('{"answer": "one two three"}'), 4)
