from collections.abc import Generator
from pathlib import Path

import pytest

from tests.coder_process import Coder
from tests.crash.journey import Journey, job
from tests.model_server import by_history, model_server_thread


@pytest.fixture
def journey(tmp_path: Path) -> Generator[Journey]:
    folder = tmp_path / "work"
    folder.mkdir()
    with model_server_thread(by_history(job)) as server:
        yield Journey(Coder(tmp_path / "home", folder, server.base_url), server)
