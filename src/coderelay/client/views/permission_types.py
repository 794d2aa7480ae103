"""What an ask is about, in the words that outside programs know: `read`, `write`, `command`, or `all`."""

from collections.abc import Iterable
from typing import Literal

from coderelay.protocol.calls import Kind, Need

PermissionType = Literal["read", "write", "all", "command"]

_TYPES: dict[Kind, PermissionType] = {
    "read": "read",
    "edit": "write",
    "command": "command",
    "network": "all",
    "mcp": "all",
    "ask": "read",
}


def permission_type(need: Need) -> PermissionType:
    return _TYPES[need.kind]


def permission_type_of_batch(needs: Iterable[Need]) -> PermissionType:
    """Of one call or more: `all` covers whatever is asked for together."""
    types: set[PermissionType] = {permission_type(each) for each in needs}
    return types.pop() if len(types) == 1 else "all"
