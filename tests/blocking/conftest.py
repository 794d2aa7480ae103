from pathlib import Path

import pytest

from tests.blocking.kill_scene import BlockingScene
from tests.coder_process import Coder
from tests.model_server import by_history, model_server_thread, says


@pytest.fixture
def killed(tmp_path: Path) -> BlockingScene:
    folder = tmp_path / "work"
    folder.mkdir()
    with model_server_thread(by_history(lambda history: says("nobody asks a model"))) as server:
        return BlockingScene(Coder(tmp_path / "home", folder, server.base_url), server)
