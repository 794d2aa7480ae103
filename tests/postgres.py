"""Fixtures of tests that need a PostgreSQL server: `pytest_plugins = ["tests.postgres"]`, never imported."""

from collections.abc import Generator

import pytest

from tests.postgres_server import NoServer, PrivateServer
from tests.skip_or_fail import missing


@pytest.fixture(scope="session")
def postgres() -> Generator[PrivateServer]:
    """One for all tests of a process. A missing one is said, and is a failure where nothing may be left out."""
    try:
        server = PrivateServer()
    except NoServer as reason:
        missing(str(reason))
    with server:
        yield server


@pytest.fixture
def database(postgres: PrivateServer) -> str:
    """The address of a place for one log, empty."""
    return postgres.new_schema()
