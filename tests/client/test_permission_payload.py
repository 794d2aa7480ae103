"""The words of the batch pre-check."""

from typing import get_args

import pytest

from coderelay.client.views.permission_request_json import permission_type, permission_type_of_batch
from coderelay.protocol.calls import Kind, Need

pytestmark = pytest.mark.quick


def need(kind: Kind) -> Need:
    return Need(tool="t", kind=kind, title="x")


def test_d16_every_kind_has_a_permission_type() -> None:
    assert {kind: permission_type(need(kind)) for kind in get_args(Kind)} == {
        "read": "read",
        "edit": "write",
        "command": "command",
        "network": "all",
        "mcp": "all",
        "ask": "read",
    }


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["read", "read"], "read"),
        (["edit"], "write"),
        (["command", "command"], "command"),
        (["read", "edit"], "all"),
        (["edit", "command"], "all"),
    ],
)
def test_d16_a_batch_has_one_permission_type(kinds: list[Kind], expected: str) -> None:
    assert permission_type_of_batch(map(need, kinds)) == expected
