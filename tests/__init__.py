import pytest

# Before any test loads them: their assertions explain themselves.
pytest.register_assert_rewrite("coderelay.testing.store_suite", "tests.store.databases")
