from pathlib import Path

import pytest

from tests.models.certificates import Certificate


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return Certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def nowhere(tmp_path: Path) -> str:
    return str(tmp_path / "nowhere.pem")
