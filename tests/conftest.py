"""A model server that must end without a violation, and `coder` as a process in a folder of its own."""

import os
import signal
import subprocess
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings

from tests.coder_process import Coder
from tests.model_server import ModelServerThread, Script, model_server_thread

# Before any test loads them: their assertions explain themselves.
pytest.register_assert_rewrite("coderelay.testing.store_suite", "tests.store.sample_database")

settings.register_profile("without deadline", deadline=None)  # a busy machine is no failure
settings.load_profile("without deadline")

Serve = Callable[[Script], ModelServerThread]


def pytest_configure() -> None:
    """Shells have Ctrl-C ignored by what they start in the background, and `nohup` the end of the terminal, which is
    inherited. The tests send both."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make quick` does not load the files in which nothing is quick: loading all of them takes ten seconds."""
    if config.option.markexpr != "quick" or not collection_path.name.startswith("test_"):
        return None
    return "pytest.mark.quick" not in collection_path.read_text() or None


@pytest.fixture
def serve() -> Generator[Serve]:
    """Starts model servers; at the end, every request must have been one a strict provider accepts."""
    with ExitStack() as stack:
        servers: list[ModelServerThread] = []

        def start(script: Script) -> ModelServerThread:
            server = stack.enter_context(model_server_thread(script))
            servers.append(server)
            return server

        yield start
        violations = [each for server in servers for each in server.violations]
    assert violations == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path


@pytest.fixture
def coder_on(tmp_path: Path, folder: Path) -> Callable[[ModelServerThread], Coder]:
    return lambda server: Coder(tmp_path / "home", folder, server.base_url)


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A folder on a file system of six megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system needs the right to mount; a full database is tested without one too")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
