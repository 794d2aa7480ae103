"""Every way to confine commands that works on this machine. A missing one is said, and is a failure in CI."""

from functools import cache

import pytest

from coderelay.workspace.sandbox.sandbox_backend import BACKENDS, SandboxBackend
from coderelay.workspace.sandbox.sandbox_probe import probe
from tests.skip_or_fail import missing


@cache
def why_not(backend: SandboxBackend, coder_home: str) -> str:
    return probe(backend, coder_home)


def checked(backend: SandboxBackend, coder_home: str) -> SandboxBackend:
    if reason := why_not(backend, coder_home):
        missing(f"{backend}: {reason}")
    return backend


@pytest.fixture(scope="session")
def coder_home_for_probes(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("probes"))


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, coder_home_for_probes: str) -> SandboxBackend:
    return checked(request.param, coder_home_for_probes)


@pytest.fixture
def bubblewrap(coder_home_for_probes: str) -> SandboxBackend:
    return checked("bubblewrap", coder_home_for_probes)
