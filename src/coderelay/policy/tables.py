"""What each preset and each mode says, as tables. A preset is what mode `default` means."""

from typing import Literal

from msgspec import Struct

from coderelay.protocol.calls import Kind, Right
from coderelay.protocol.events import Mode, Preset
from coderelay.protocol.translatable import say

Answer = Literal["allow", "ask", "deny"]
Cell = Literal["allow", "sandboxed", "ask", "deny"]
"""`sandboxed` allows what runs in a sandbox, because it does; without one it asks."""

Effect = Literal["read", "edit", "build", "run", "stop"]
"""What a command does at worst. `build` runs known tests and builds; `stop` is what nobody means."""


class Table(Struct, frozen=True):
    """For calls that are no commands, for commands, and for what commands want beyond the sandbox."""

    calls: dict[Kind, Cell]
    commands: dict[Effect, Cell]
    rights: dict[Right, Cell]


STRICT = Table(
    calls={"read": "allow", "edit": "ask", "network": "ask", "mcp": "ask"},
    commands={"read": "ask", "edit": "ask", "build": "ask", "run": "ask", "stop": "deny"},
    rights={"network": "ask", "outside": "ask"},
)
BALANCED = Table(
    calls={"read": "allow", "edit": "ask", "network": "ask", "mcp": "ask"},
    commands={"read": "allow", "edit": "ask", "build": "ask", "run": "ask", "stop": "deny"},
    rights={"network": "ask", "outside": "ask"},
)
AUTO_EDIT = Table(
    calls={"read": "allow", "edit": "allow", "network": "ask", "mcp": "ask"},
    commands={"read": "allow", "edit": "allow", "build": "sandboxed", "run": "ask", "stop": "deny"},
    rights={"network": "ask", "outside": "ask"},
)
YOLO_IN_SANDBOX = Table(
    calls={"read": "allow", "edit": "allow", "network": "allow", "mcp": "allow"},
    commands={"read": "allow", "edit": "allow", "build": "sandboxed", "run": "sandboxed", "stop": "deny"},
    rights={"network": "allow", "outside": "ask"},
)
PLAN = Table(
    calls={"read": "allow", "edit": "deny", "network": "deny", "mcp": "deny"},
    commands={"read": "allow", "edit": "deny", "build": "deny", "run": "deny", "stop": "deny"},
    rights={"network": "deny", "outside": "deny"},
)
YOLO = Table(
    calls={"read": "allow", "edit": "allow", "network": "allow", "mcp": "allow"},
    commands={"read": "allow", "edit": "allow", "build": "allow", "run": "allow", "stop": "allow"},
    rights={"network": "allow", "outside": "allow"},
)

PRESETS: dict[Preset, Table] = {
    "strict": STRICT,
    "balanced": BALANCED,
    "auto-edit": AUTO_EDIT,
    "yolo": YOLO_IN_SANDBOX,
}
_MODES: dict[Mode, Table] = {"plan": PLAN, "auto-edit": AUTO_EDIT, "yolo": YOLO}


def table_of(mode: Mode, preset: Preset) -> Table:
    return PRESETS[preset] if mode == "default" else _MODES[mode]


def files_others_obey(table: Table) -> Cell:
    """To write one is a way out of the sandbox: another program starts, outside of it, what the file names."""
    return table.rights["outside"]


def named(mode: Mode, preset: Preset) -> str:
    """Which table counts, for a reason."""
    return (
        say("preset is {preset}", preset=preset)
        if mode == "default" and preset != "balanced"
        else say("mode is {mode}", mode=mode)
    )


def in_words(table: Table) -> list[tuple[str, Cell]]:
    """The rows of a table for people."""
    return [
        ("read files", table.calls["read"]),
        ("change files", table.calls["edit"]),
        ("change files that other programs obey", files_others_obey(table)),
        ("use the network", table.calls["network"]),
        ("use tools of other programs (MCP)", table.calls["mcp"]),
        ("commands that only read", table.commands["read"]),
        ("commands that only make files", table.commands["edit"]),
        ("tests and builds", table.commands["build"]),
        ("other commands", table.commands["run"]),
        ("commands with the network", table.rights["network"]),
        ("commands outside of the sandbox", table.rights["outside"]),
        ("commands that nobody means (rm -rf /)", table.commands["stop"]),
    ]
