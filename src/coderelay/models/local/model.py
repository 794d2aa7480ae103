"""The provider `local`: models with downloaded weights, each run by a server process on this machine."""

import asyncio
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import msgspec

from coderelay.models.api_client import ApiClient
from coderelay.models.json_schema_chat.model import SchemaChat
from coderelay.models.local.installed_weights_registry import WeightsFolder, models_folder
from coderelay.models.model import Piece, Request
from coderelay.models.model_card import Card
from coderelay.protocol.errors import CannotRun, ModelFailed
from coderelay.protocol.install_command import install_command
from coderelay.protocol.translatable import say
from coderelay.workspace.processes.environment import command_environment

_SERVE = Path(__file__).with_name("weights_server_script.py")
_KEPT = ("PYTHONPATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "CUDA_VISIBLE_DEVICES")
_CALM = {"OMP_WAIT_POLICY": "passive"}  # threads that wait by spinning take ten times as long on a busy machine
_END_SECONDS = 2.0
_IDLE_SECONDS = 900.0  # a long prompt is processed slowly, without any output


class LocalModels:
    """Local models by name. Their servers are started by the first request and kept for the next one."""

    card = Card(context=8192, output=1024, calls="schema")

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._folder = WeightsFolder(models_folder(env))
        self._servers: dict[str, LocalServer] = {}

    def open(self, model: str) -> "LocalChat":
        """Raises CannotRun, saying what to do."""
        path = self._path(model.partition(":")[2])
        if find_spec("xllamacpp") is None:
            how = say("Install it: {command}", command=install_command("xllamacpp"))
            raise CannotRun(say("{model} needs xllamacpp to run", model=model), how)
        server = self._servers.setdefault(path, LocalServer(path, self.card.context, self._env))
        return LocalChat(model, self.card, server)

    async def close(self) -> None:
        for server in self._servers.values():
            await server.close()

    def _path(self, name: str) -> str:
        known = self._folder.all()
        if name not in known:
            there = say("available: {names}", names=", ".join(known)) if known else "none installed"
            raise CannotRun(
                say("no local model {name}; {rest}", name=repr(name), rest=there),
                "Get one with: coder model install",
            )
        path = self._folder.path_of(known[name])
        if not os.path.exists(path):
            raise CannotRun(
                say("the file of local:{name} does not exist any more: {path}", name=name, path=path),
                say("Remove it from the list with: coder model remove {name}", name=name),
            )
        return path


class LocalChat:
    def __init__(self, model_id: str, card: Card, server: "LocalServer") -> None:
        self.id = model_id
        self.card = card
        self._server = server

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        chat = SchemaChat(self.id, self.card, await self._server.api_client())
        async with aclosing(chat.stream(request)) as pieces:
            async for piece in pieces:
                yield piece


class LocalServer:
    """A server process, shared by all turns of our process. Its own random key keeps other users of the machine
    out."""

    def __init__(self, path: str, context: int, env: Mapping[str, str]) -> None:
        self.address = ""  # known once started
        self._path = path
        self._context = context
        self._env = env
        self._lock = asyncio.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._api_client: ApiClient | None = None

    async def api_client(self) -> ApiClient:
        """Start the server if it is not running. Raises ModelFailed."""
        async with self._lock:
            if self._api_client is None or self._process is None or self._process.poll() is not None:
                await self.close()
                self._api_client = await self._start()
            return self._api_client

    async def close(self) -> None:
        api_client, process = self._api_client, self._process
        self._api_client = self._process = None
        if api_client is not None:
            await api_client.close()
        if process is not None:
            await asyncio.to_thread(_end, process)

    async def _start(self) -> ApiClient:
        key = secrets.token_urlsafe(24)
        with tempfile.TemporaryFile() as errors:
            self._process = process = _run(self._env, errors)
            try:
                self.address = await asyncio.to_thread(self._order, process, key)
            except BaseException:  # also when cancelled: the waiting thread ends only with the process
                process.kill()
                raise
            if not self.address:
                await asyncio.to_thread(_end, process)
                raise ModelFailed(say("{path} could not be run: {why}", path=self._path, why=_reason(errors)))
        headers = {"authorization": f"Bearer {key}"}
        return ApiClient(f"{self.address}/v1", headers, secret=key, env={}, idle_seconds=_IDLE_SECONDS)

    def _order(self, process: subprocess.Popen[bytes], key: str) -> str:
        """Tell the child what to serve. Returns its address, or nothing if it ended instead."""
        assert process.stdin is not None
        assert process.stdout is not None
        order = {"path": self._path, "key": key, "context": self._context, "parent": os.getpid()}
        with suppress(BrokenPipeError):  # it has ended already, so its output ends too
            process.stdin.write(msgspec.json.encode(order) + b"\n")
            process.stdin.flush()
        reply = process.stdout.readline()
        return msgspec.json.decode(reply, type=dict[str, str])["address"] if reply else ""


def _run(env: Mapping[str, str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the server in a session of its own, because Ctrl-C is meant for us; and without our API keys."""
    kept = _CALM | {name: env[name] for name in _KEPT if name in env}
    return subprocess.Popen(
        [sys.executable, "-P", str(_SERVE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=command_environment(env) | kept,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the server by closing its input; kill it if it does not exit in time."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def _reason(errors: IO[bytes]) -> str:
    """Why the server failed: the first error in its log, which is the telling one; of a traceback, the last line."""
    errors.seek(0)
    lines = errors.read(64 * 1024).decode("utf-8", "replace").strip().splitlines()
    told = next((line.partition(" E ")[2] for line in lines if " E " in line), lines[-1] if lines else "")
    return told or say("it gave no reason")
