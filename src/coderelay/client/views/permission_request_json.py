"""Permission asks, for one call or a batch, as the payload fields that outside programs know."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from coderelay.protocol.calls import Kind, Need

Payload = dict[str, Any]
PermissionType = Literal["read", "write", "all", "command"]
_TYPES: dict[Kind, PermissionType] = {
    "read": "read",
    "edit": "write",
    "command": "command",
    "network": "all",
    "mcp": "all",
    "ask": "read",
}


def permission_payload(need: Need, cwd: str) -> Payload:
    """The fields for one call; fields without a value are left out."""
    payload: Payload = {"permissionType": permission_type(need)}
    if need.paths:
        payload["paths"] = list(need.paths)
    if need.diff:
        payload["diff"] = need.diff
    if need.command is not None:
        payload["commandInfo"] = {
            "command": need.command,
            "cwd": cwd,
            "background": need.background,
            "rights": list(need.rights),
            "sandbox": need.sandbox,
        }
        payload["commandSignature"] = command_signature(need)
    if need.kind == "network":
        payload["url"] = need.title
    if need.kind == "mcp":
        _, server, tool = (*need.tool.split("__", 2), "", "")[:3]
        payload |= {"server": server, "tool": tool}
    return payload


def command_signature(need: Need) -> Payload:
    """What `always` remembers: the first words of a command (`prefix`), exactly these words, or only this text."""
    if need.words:
        return {"words": list(need.words), "prefix": need.prefix}
    return {"text": need.command}


def permission_payload_of_batch(needs: Sequence[Need], cwd: str) -> Payload:
    """The fields of all calls: all paths in one list, and each other field as a list with one entry per call."""
    payloads = [permission_payload(need, cwd) for need in needs]
    if len(payloads) == 1:
        return payloads[0]
    merged: Payload = {"permissionType": permission_type_of_batch(needs)}
    for payload in payloads:
        for name, value in payload.items():
            if name == "paths":
                known: list[str] = merged.setdefault(name, [])
                known += [path for path in value if path not in known]
            elif name != "permissionType":
                merged.setdefault(name, []).append(value)
    return merged


def permission_type(need: Need) -> PermissionType:
    return _TYPES[need.kind]


def permission_type_of_batch(needs: Iterable[Need]) -> PermissionType:
    """The type of one or more calls; calls of different types together are `all`."""
    types: set[PermissionType] = {permission_type(each) for each in needs}
    return types.pop() if len(types) == 1 else "all"
