"""The permission modes of a session (plan, default, auto-edit, yolo), one record for each in `MODES`.

The command line, completion, keys, slash commands, configuration, policy and prompts take names, order and texts from
`MODES`. `coder --help` does too, so this file imports nothing but `bilingual_text`.

To add a mode, add its name to `Mode` and its record to `MODES`, and describe it in `docs/permissions.md`;
CODER_UPDATE_SNAPSHOTS=1 writes `docs/commands.md` and the picture of `/help` anew, and `python -m tools.web_types`
what the web app knows of it.
"""

from coderelay.protocol.bilingual_text import Localized

TYPE_CHECKING = False  # instead of typing.TYPE_CHECKING: importing typing would make `coder --help` too slow
if TYPE_CHECKING:
    from typing import Literal

    from coderelay.protocol.calls import Effect, Kind, Permission, Right

    Mode = Literal["plan", "default", "auto-edit", "yolo"]
    Colour = Literal["red", "green", "yellow", "cyan"]


class ModeTable:
    """What a mode allows, asks about or denies. `calls` is for calls other than commands, `commands` for commands by
    their worst effect, and `rights` for what a command wants beyond the sandbox."""

    __slots__ = ("calls", "commands", "rights")

    def __init__(
        self, calls: "dict[Kind, Permission]", commands: "dict[Effect, Permission]", rights: "dict[Right, Permission]"
    ) -> None:
        self.calls = calls
        self.commands = commands
        self.rights = rights


class ModeSpec:
    """One mode. `text` says what it does, for people, who see its name beside it; `prompt` is for the model. Without
    a `table`, the session's preset decides.

    In an `unchecked` mode, commands and reads of secret files are not checked, and commands run without a sandbox
    unless the configuration says otherwise. `by_key` says whether Shift+Tab can reach the mode. `external_name` is
    the name of the mode in front ends made for Claude Code, and `aliases` are the names that other tools give it.
    `child` is the mode of the child sessions of a session in this mode. The web app offers it as `label`, with the
    `detail` below.
    """

    def __init__(
        self,
        name: "Mode",
        text: Localized,
        *,
        prompt: str,
        table: ModeTable | None,
        child: "Mode",
        colour: "Colour",
        external_name: str,
        label: Localized,
        detail: Localized,
        unchecked: bool = False,
        by_key: bool = True,
        aliases: tuple[str, ...] = (),
    ) -> None:
        self.name: Mode = name
        self.text = text
        self.prompt = prompt
        self.table = table
        self.child: Mode = child
        self.colour: Colour = colour
        self.external_name = external_name
        self.label = label
        self.detail = detail
        self.unchecked = unchecked
        self.by_key = by_key
        self.aliases = aliases


MODES = (
    ModeSpec(
        "plan",
        Localized("explore and propose a plan, change nothing", "分析、拆解并给出方案，不作改动"),
        prompt="plan: look and think only. Files cannot be changed, and only commands that read can be run. Find out "
        "what must be done, then propose it with plan_exit: what to change, where, in which order, and how to check "
        "it.",
        table=ModeTable(
            calls={"read": "allow", "edit": "deny", "network": "deny", "mcp": "deny"},
            commands={"read": "allow", "edit": "deny", "build": "deny", "run": "deny", "destructive": "deny"},
            rights={"network": "deny", "outside": "deny"},
        ),
        child="plan",
        colour="cyan",
        external_name="plan",
        label=Localized("Plan", "规划"),
        detail=Localized("Explore and propose a plan, change nothing", "分析并给出方案，不作改动"),
    ),
    ModeSpec(
        "default",
        Localized(
            "ask for permission as the preset in /permissions says",
            "按 /permissions 的预设审批",
        ),
        prompt="default: the person is asked before a file is changed, and before a command that does more than "
        "read.",
        table=None,
        child="plan",
        colour="green",
        external_name="default",
        label=Localized("Ask first", "先询问"),
        detail=Localized("Ask before changes and commands", "改动和运行命令前询问"),
    ),
    ModeSpec(
        "auto-edit",
        Localized("edit files without asking, and verify the work", "直接编辑，并验证结果"),
        prompt="auto-edit: files may be changed, and tests and builds run in the sandbox, without asking; the person "
        "is asked before other commands that do more than read.",
        table=ModeTable(
            calls={"read": "allow", "edit": "allow", "network": "ask", "mcp": "ask"},
            commands={"read": "allow", "edit": "allow", "build": "sandboxed", "run": "ask", "destructive": "deny"},
            rights={"network": "ask", "outside": "ask"},
        ),
        child="auto-edit",
        colour="yellow",
        external_name="acceptEdits",
        label=Localized("Edit freely", "自由编辑"),
        detail=Localized("Edit files and run tests without asking", "编辑文件和运行测试无需询问"),
        aliases=("autoEdit", "smart"),
    ),
    ModeSpec(
        "yolo",
        Localized(
            "like auto-edit, and run any command without asking",
            "在 auto-edit 基础上，命令全部放行",
        ),
        prompt="yolo: files may be changed and commands run without asking. Nobody looks over your shoulder, so take "
        "care: nothing that cannot be undone unless it was asked for.",
        table=ModeTable(
            calls={"read": "allow", "edit": "allow", "network": "allow", "mcp": "allow"},
            commands={"read": "allow", "edit": "allow", "build": "allow", "run": "allow", "destructive": "allow"},
            rights={"network": "allow", "outside": "allow"},
        ),
        child="yolo",
        colour="red",
        external_name="bypassPermissions",
        label=Localized("Never ask", "从不询问"),
        detail=Localized("Run every command without asking", "所有命令直接运行"),
        unchecked=True,
        by_key=False,
    ),
)
"""Ordered from the strictest mode to the least strict."""

MODE_NAMES: "tuple[Mode, ...]" = tuple(each.name for each in MODES)
_BY_NAME = {each.name: each for each in MODES}


def mode_spec(mode: "Mode") -> ModeSpec:
    return _BY_NAME[mode]


def mode_called(name: str) -> "Mode | None":
    """The mode with this name, its own or the one that other tools give it."""
    return next((each.name for each in MODES if name in (each.name, *each.aliases)), None)


def stricter_mode(one: "Mode", other: "Mode") -> "Mode":
    return one if MODE_NAMES.index(one) <= MODE_NAMES.index(other) else other


def freer_mode(one: "Mode", other: "Mode") -> "Mode":
    return other if stricter_mode(one, other) == one else one


def next_mode_by_key(mode: "Mode") -> "Mode":
    """The next mode for Shift+Tab. It never leads into yolo, which a person must name explicitly."""
    names: list[Mode] = [each.name for each in MODES if each.by_key]
    return names[(names.index(mode) + 1) % len(names)] if mode in names else "default"
