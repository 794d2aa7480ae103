"""Tests whether a way to confine commands works on this machine, by running what must fail and what must succeed."""

import os
import socket
import subprocess
import sys

from coderelay.workspace.sandbox.bubblewrap import bubblewrap_program
from coderelay.workspace.sandbox.guarded_paths import GuardedPaths
from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend, wrapped
from coderelay.workspace.sandbox.sandbox_profile import profile
from coderelay.workspace.sandbox.sandbox_state_folder import PrivateFolder

_SECONDS = 20
_WORKS = "confined"
_SCRIPT = """
import os, sys
from _socket import socket, SOCK_DGRAM
inside, outside, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
open(inside, "w").close()
try:
    open(outside, "w").close()
except OSError:
    pass
try:
    socket().connect(("127.0.0.1", port))
    sys.exit("it can reach other machines")
except OSError:
    pass
try:
    socket(type=SOCK_DGRAM).sendto(b"out", ("127.0.0.1", port))
except OSError:
    pass
print("confined")
"""


def probe(backend: SandboxBackend, coder_home: str) -> str:
    """Return the reason why this way cannot be used, or an empty text if it works."""
    if backend == "bubblewrap" and bubblewrap_program() is None:
        return "bwrap is not installed"
    private = PrivateFolder(coder_home)
    try:
        return _try(backend, coder_home, private)
    except (OSError, subprocess.SubprocessError, ImportError) as error:
        return str(error)
    finally:
        private.remove()


def _try(backend: SandboxBackend, coder_home: str, private: PrivateFolder) -> str:
    folder = os.path.join(private.path, "probe")
    os.mkdir(folder)
    inside, outside = os.path.join(folder, "inside"), os.path.join(private.path, "outside")
    # Of two adjacent paths of ours, one is made writable and the other must stay read-only.
    allowed = profile(
        (folder,),
        GuardedPaths((), ()),
        coder_home=os.path.join(private.path, "nothing"),
        env={},
        cache=folder,
        temporary=private.temporary,
        network=False,
    )
    with socket.create_server(("127.0.0.1", 0)) as stream, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        port = stream.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        argv = [sys.executable, "-I", "-S", "-c", _SCRIPT, inside, outside, str(port)]
        tried = subprocess.run(
            wrapped(backend, argv, allowed, private.blank),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={},
            cwd="/",
            timeout=_SECONDS,
            text=True,
        )
        datagrams.setblocking(False)
        leaked = _received(datagrams)
    if leaked:
        return "it can reach other machines"
    if os.path.exists(outside):
        return "it can write outside of the workspace"
    if tried.stdout.strip() != _WORKS or not os.path.exists(inside):
        return tried.stderr.strip() or tried.stdout.strip() or f"exit code {tried.returncode}"
    return ""


def _received(datagrams: socket.socket) -> bool:
    try:
        return bool(datagrams.recv(16))
    except BlockingIOError:
        return False
