"""A fake platform for each test that wants one."""

from collections.abc import Generator

import pytest

from coderelay.testing.feishu_server import FakeFeishu
from tests.patience import PATIENCE


@pytest.fixture
def feishu() -> Generator[FakeFeishu]:
    with FakeFeishu(seconds=PATIENCE) as platform:
        yield platform
