import pytest

pytest.register_assert_rewrite("coderelay.testing.store_suite", "tests.store.databases")
