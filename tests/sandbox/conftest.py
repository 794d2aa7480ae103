"""Every way to confine commands that works on this machine. A missing one is said, and is a failure in CI."""

import os
from functools import cache

import pytest

from coderelay.workspace.sandbox.confinement import Rung
from coderelay.workspace.sandbox.detect import WAYS
from coderelay.workspace.sandbox.probe import probe


@cache
def why_not(rung: Rung, coder_home: str) -> str:
    return probe(rung, coder_home)


def checked(rung: Rung, coder_home: str) -> Rung:
    if reason := why_not(rung, coder_home):
        if os.environ.get("CI") == "true":
            pytest.fail(f"{rung}: {reason}")
        pytest.skip(f"{rung}: {reason}")
    return rung


@pytest.fixture(scope="session")
def coder_home_for_probes(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("probes"))


@pytest.fixture(params=WAYS)
def rung(request: pytest.FixtureRequest, coder_home_for_probes: str) -> Rung:
    return checked(request.param, coder_home_for_probes)


@pytest.fixture
def bubblewrap(coder_home_for_probes: str) -> Rung:
    return checked("bubblewrap", coder_home_for_probes)
