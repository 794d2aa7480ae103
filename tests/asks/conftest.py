from collections.abc import Generator
from pathlib import Path

import pytest

from tests.asks.scene import Scene, three_calls
from tests.coder_process import Coder
from tests.model_server import by_history, model_server_thread


@pytest.fixture
def scene(tmp_path: Path) -> Generator[Scene]:
    folder = tmp_path / "work"
    folder.mkdir()
    with model_server_thread(by_history(three_calls)) as server:
        yield Scene(Coder(tmp_path / "home", folder, server.base_url), server)
