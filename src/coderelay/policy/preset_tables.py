"""The permission tables of the presets: allow, ask or deny for each kind of call and command.

A preset says what mode `default` means; the tables of the other modes are in `protocol/modes`.
"""

from typing import Literal

from coderelay.protocol.calls import Effect, Permission
from coderelay.protocol.modes import ModeTable, mode_spec
from coderelay.protocol.session_setting_values import Mode, Preset
from coderelay.protocol.translatable import say

__all__ = [
    "PRESETS",
    "Effect",
    "ModeAnswer",
    "ModeTable",
    "Permission",
    "autorun_permission",
    "matrix_in_words",
    "table_name",
    "table_of",
]

ModeAnswer = Literal["allow", "ask", "deny"]

_STRICT = ModeTable(
    calls={"read": "allow", "edit": "ask", "network": "ask", "mcp": "ask"},
    commands={"read": "ask", "edit": "ask", "build": "ask", "run": "ask", "destructive": "deny"},
    rights={"network": "ask", "outside": "ask"},
)
_BALANCED = ModeTable(
    calls={"read": "allow", "edit": "ask", "network": "ask", "mcp": "ask"},
    commands={"read": "allow", "edit": "ask", "build": "ask", "run": "ask", "destructive": "deny"},
    rights={"network": "ask", "outside": "ask"},
)
_YOLO_IN_SANDBOX = ModeTable(
    calls={"read": "allow", "edit": "allow", "network": "allow", "mcp": "allow"},
    commands={"read": "allow", "edit": "allow", "build": "sandboxed", "run": "sandboxed", "destructive": "deny"},
    rights={"network": "allow", "outside": "ask"},
)

_AUTO_EDIT = mode_spec("auto-edit").table
assert _AUTO_EDIT is not None
PRESETS: dict[Preset, ModeTable] = {
    "strict": _STRICT,
    "balanced": _BALANCED,
    "auto-edit": _AUTO_EDIT,
    "yolo": _YOLO_IN_SANDBOX,
}


def table_of(mode: Mode, preset: Preset) -> ModeTable:
    return mode_spec(mode).table or PRESETS[preset]


def autorun_permission(table: ModeTable) -> Permission:
    """What the table says about editing autorun files. Writing one is a way out of the sandbox, because another
    program starts what the file names outside of it; so it counts like a command outside."""
    return table.rights["outside"]


def table_name(mode: Mode, preset: Preset) -> str:
    """Names the table that applies, the mode or the preset, for the reason of a verdict."""
    if mode_spec(mode).table is None and preset != "balanced":
        return say("{preset} preset", preset=preset)
    return say("{mode} mode", mode=mode)


def matrix_in_words(table: ModeTable) -> list[tuple[str, Permission]]:
    """The rows of a table, each with a description for people."""
    return [
        ("read files", table.calls["read"]),
        ("change files", table.calls["edit"]),
        ("change files that make other programs run something", autorun_permission(table)),
        ("use the network", table.calls["network"]),
        ("use tools of other programs (MCP)", table.calls["mcp"]),
        ("commands that only read", table.commands["read"]),
        ("commands that only create files", table.commands["edit"]),
        ("tests and builds", table.commands["build"]),
        ("other commands", table.commands["run"]),
        ("commands with network access", table.rights["network"]),
        ("commands outside the sandbox", table.rights["outside"]),
        ("destructive commands (rm -rf /)", table.commands["destructive"]),
    ]
