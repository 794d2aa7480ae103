"""What the tests of the app in a browser need, and the end of the browser that those of a module share."""

import sys
from collections.abc import Generator

import pytest

from coderelay.surfaces.web.page_files import APP
from tests.skip_or_fail import missing


@pytest.fixture(scope="session")
def app_in_chromium() -> None:
    from tests.web.chromium import CHROMIUM  # loads Playwright

    if CHROMIUM is None:
        missing("there is no Chromium on this machine")
    if not (APP / "index.html").is_file():
        missing("the web app is not built; run `make web`")


@pytest.fixture(scope="module", autouse=True)
def _browser_ends_with_its_module() -> Generator[None]:
    yield
    if (used := sys.modules.get("tests.web.chromium")) is not None:
        used.close_browser()
