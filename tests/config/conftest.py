from pathlib import Path

import pytest

from tests.config.config_files import Places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)
