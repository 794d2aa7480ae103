"""From inside a confined command: what must fail fails."""

import json
import os
import shlex
import socket
import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from coderelay.workspace.sandbox import session_sandbox
from coderelay.workspace.sandbox.git_folder_search import GitSearch
from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend
from tests.house import story
from tests.sandbox.confined import Confined, confined

SECRET = "sk-very-secret"
ATTEMPTS = Path(__file__).with_name("sandbox_escape_attempts.py")
CREDENTIALS = (
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".npmrc",
    ".docker/config.json",
    ".config/gh/hosts.yml",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".local/share/opencode/auth.json",
    ".bash_history",
    ".mozilla/profile/logins.json",
)


def plant(file: Path) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(SECRET)
    return str(file)


async def attempt(inside: Confined, facts: dict[str, object]) -> dict[str, str]:
    """Each attempt that was not refused, and how it went."""
    script = inside.work / "attempts.py"
    script.write_bytes(ATTEMPTS.read_bytes())
    argv = [sys.executable, "-I", str(script), json.dumps(facts)]
    outcomes: dict[str, str] = json.loads(await inside.output(shlex.join(argv)))
    return {name: outcome for name, outcome in outcomes.items() if outcome == "done"}


@story
async def test_nothing_outside_can_be_reached_read_or_changed(
    tmp_path: Path, backend: SandboxBackend, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    abstract = f"coder-{uuid4().hex}"
    async with confined(tmp_path, backend) as inside:
        secrets = [plant(inside.home / name) for name in CREDENTIALS]
        secrets.append(plant(inside.coder_home / "trust.json"))
        with ExitStack() as stack:
            stream = stack.enter_context(socket.create_server(("0.0.0.0", 0)))
            port = stream.getsockname()[1]
            datagrams = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
            datagrams.bind(("127.0.0.1", port))
            sockets = [str(inside.home / "agent.sock"), str(tmp_path / "t.sock")]
            for address in [*sockets, "\0" + abstract]:
                listener = stack.enter_context(socket.socket(socket.AF_UNIX))
                listener.bind(address)
                listener.listen()
            seen, unseen = (
                [str(inside.home / "x"), "/etc/x-coder"],
                [str(inside.coder_home / "x"), str(tmp_path / "x")],
            )
            facts: dict[str, object] = {
                "secret": SECRET,
                "secrets": secrets,
                "outside": seen,
                "port": port,
                "sockets": sockets,
                "abstract": abstract,
                "pid": os.getpid(),
                "harmless": False,
            }
            assert await attempt(inside, facts) == {}
            await inside.bash(f"echo out > /dev/udp/127.0.0.1/{port}; touch {shlex.join(unseen)}")
            datagrams.setblocking(False)
            with pytest.raises(BlockingIOError):
                datagrams.recv(16)
    assert [path for path in [*seen, *unseen] if os.path.exists(path)] == []


@story
async def test_the_attempts_succeed_outside_of_a_sandbox(tmp_path: Path):
    """So that a refusal says something."""
    abstract = f"coder-{uuid4().hex}"
    async with confined(tmp_path, "none") as inside:
        with ExitStack() as stack:
            stream = stack.enter_context(socket.create_server(("0.0.0.0", 0)))
            path = str(inside.home / "agent.sock")
            for address in (path, "\0" + abstract):
                listener = stack.enter_context(socket.socket(socket.AF_UNIX))
                listener.bind(address)
                listener.listen()
            facts: dict[str, object] = {
                "secret": SECRET,
                "secrets": [plant(inside.home / name) for name in CREDENTIALS],
                "outside": [str(inside.home / "x")],
                "port": stream.getsockname()[1],
                "sockets": [path],
                "abstract": abstract,
                "pid": os.getpid(),
                "harmless": True,
            }
            done = await attempt(inside, facts)
    assert {
        f"write {inside.home / 'x'}",
        *(f"read {inside.home / name}" for name in CREDENTIALS),
        "reach the machine",
        "reach another of its addresses",
        f"connect to {path}",
        "connect to an abstract socket",
        "signal the owner",
    } <= done.keys()


@story
async def test_credentials_stay_hidden_when_home_itself_is_the_workspace(tmp_path: Path, backend: SandboxBackend):
    home = tmp_path / "person"
    for name in CREDENTIALS:
        plant(home / name)
    (home / "notes.txt").write_text("mine")
    async with confined(tmp_path, backend, home=home, work=home) as inside:
        seen = await inside.bash(f"cat notes.txt; cat {' '.join(CREDENTIALS)}; echo new > made.txt")
        assert (seen.output.startswith("mine"), SECRET in seen.output) == (True, False)
    assert (home / "made.txt").read_text() == "new\n"
    assert [name for name in CREDENTIALS if (home / name).read_text() != SECRET] == []


@story
async def test_the_root_itself_can_be_the_workspace(
    tmp_path: Path, bubblewrap: SandboxBackend, monkeypatch: pytest.MonkeyPatch
):
    # Not every folder of this machine is searched.
    monkeypatch.setattr(session_sandbox, "GitSearch", partial(GitSearch, most=1000))
    home = tmp_path / "person"
    plant(home / ".ssh/id_ed25519")
    async with confined(tmp_path, bubblewrap, home=home, work=Path("/")) as inside:
        seen = await inside.bash(f"pwd; cat {home}/.ssh/id_ed25519; ls -A {home}/.ssh")
        assert (seen.output.splitlines()[0], SECRET in seen.output) == ("/", False)
        assert "[There are too many folders to look for new git repositories in all of them.]" in seen.output


@story
async def test_a_hidden_file_still_reads_as_one(tmp_path: Path, bubblewrap: SandboxBackend):
    """Tools fail on a configuration that is not even well-formed."""
    async with confined(tmp_path, bubblewrap) as inside:
        for name in (".docker/config.json", ".m2/settings.xml", ".npmrc"):
            plant(inside.home / name)
        names = "~/.docker/config.json ~/.m2/settings.xml ~/.npmrc"
        assert await inside.output(f"cat {names}") == "{}\n<settings/>\n"


@story
async def test_the_environment_of_a_command_is_its_own(tmp_path: Path, backend: SandboxBackend):
    runtime = tmp_path / "person/runtime"
    plant(runtime / "bus")
    async with confined(tmp_path, backend, env={"XDG_RUNTIME_DIR": str(runtime)}) as inside:
        seen = dict(line.split("=", 1) for line in (await inside.output("env")).splitlines())
        assert "XDG_RUNTIME_DIR" not in seen
        own = [seen[name] for name in ("XDG_CACHE_HOME", "PIP_CACHE_DIR", "npm_config_cache", "GOCACHE")]
        assert [path.startswith(str(inside.coder_home / "caches")) for path in own] == [True] * 4
        assert SECRET not in (await inside.bash(f"cat {runtime}/*")).output


@story
async def test_a_socket_among_the_devices_is_hidden_and_commands_still_start(tmp_path: Path, backend: SandboxBackend):
    """The devices are then listed one by one, /dev/stderr too, which leads to a pipe of ours."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place, socket.socket(socket.AF_UNIX) as listening:
        path = os.path.join(place, "socket")
        listening.bind(path)
        listening.listen()
        async with confined(tmp_path, backend) as inside:
            code = f"import socket; socket.socket(socket.AF_UNIX).connect({path!r})"
            said = await inside.output(f"{shlex.join([sys.executable, '-I', '-c', code])} 2>&1 || echo refused")
    assert said.splitlines()[-1] == "refused"
