"""Ends the browser that the tests of a module share."""

import sys
from collections.abc import Generator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _browser_ends_with_its_module() -> Generator[None]:
    yield
    if (used := sys.modules.get("tests.web.chromium")) is not None:
        used.close_browser()
