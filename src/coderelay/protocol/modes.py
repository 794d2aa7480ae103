"""The modes of a session: what needs no asking. A mode is one record here, and everybody else reads it.

The command line, completion, keys, slash commands, configuration, policy and prompts take names, order and texts from
`MODES`. `coder --help` does too, so this file imports nothing.
"""

from coderelay.protocol.localized import Localized

TYPE_CHECKING = False  # as in typing, which takes longer to load than `coder --help` may
if TYPE_CHECKING:
    from typing import Literal

    from coderelay.protocol.calls import Cell, Effect, Kind, Right

    Mode = Literal["plan", "default", "auto-edit", "yolo"]
    Colour = Literal["red", "green", "yellow", "cyan"]


class Table:
    """What is allowed, asked about or denied: of calls that are no commands, of commands by what they do at worst,
    and of what commands want beyond the sandbox."""

    __slots__ = ("calls", "commands", "rights")

    def __init__(
        self, calls: "dict[Kind, Cell]", commands: "dict[Effect, Cell]", rights: "dict[Right, Cell]"
    ) -> None:
        self.calls = calls
        self.commands = commands
        self.rights = rights


class ModeSpec:
    """`text` is for people, `prompt` for the model. Without a `table`, the preset of the session counts.

    `by_key` modes are reached with Shift+Tab. `outside_name` is the permission mode that front ends of Claude Code
    know. `aliases` are names that other tools have for the mode. `child` is the mode of a session that works for one
    in this mode.
    """

    def __init__(
        self,
        name: "Mode",
        text: Localized,
        *,
        prompt: str,
        table: Table | None,
        child: "Mode",
        colour: "Colour",
        outside_name: str,
        by_key: bool = True,
        aliases: tuple[str, ...] = (),
    ) -> None:
        self.name: Mode = name
        self.text = text
        self.prompt = prompt
        self.table = table
        self.child: Mode = child
        self.colour: Colour = colour
        self.outside_name = outside_name
        self.by_key = by_key
        self.aliases = aliases


MODES = (
    ModeSpec(
        "plan",
        Localized("mode plan: look and propose, change nothing", "plan 模式：分析、拆解并给出方案，不作改动"),
        prompt="plan: look and think only. Files cannot be changed, and only commands that read can be run. Find out "
        "what must be done, then propose it with plan_exit: what to change, where, in which order, and how to check "
        "it.",
        table=Table(
            calls={"read": "allow", "edit": "deny", "network": "deny", "mcp": "deny"},
            commands={"read": "allow", "edit": "deny", "build": "deny", "run": "deny", "stop": "deny"},
            rights={"network": "deny", "outside": "deny"},
        ),
        child="plan",
        colour="cyan",
        outside_name="plan",
    ),
    ModeSpec(
        "default",
        Localized("mode default: as the preset of /permissions says", "default 模式：按 /permissions 的预设执行"),
        prompt="default: the person is asked before a file is changed, and before a command that does more than "
        "read.",
        table=None,
        child="plan",
        colour="green",
        outside_name="default",
    ),
    ModeSpec(
        "auto-edit",
        Localized("mode auto-edit: edit without asking, and check the work", "auto-edit 模式：直接编辑，并验证结果"),
        prompt="auto-edit: files may be changed, and tests and builds run in the sandbox, without asking; the person "
        "is asked before other commands that do more than read.",
        table=Table(
            calls={"read": "allow", "edit": "allow", "network": "ask", "mcp": "ask"},
            commands={"read": "allow", "edit": "allow", "build": "sandboxed", "run": "ask", "stop": "deny"},
            rights={"network": "ask", "outside": "ask"},
        ),
        child="auto-edit",
        colour="yellow",
        outside_name="acceptEdits",
        aliases=("autoEdit", "smart"),
    ),
    ModeSpec(
        "yolo",
        Localized(
            "mode yolo: as auto-edit, and any command without asking", "yolo 模式：在 auto-edit 基础上，命令全部放行"
        ),
        prompt="yolo: files may be changed and commands run without asking. Nobody looks over your shoulder, so take "
        "care: nothing that cannot be undone unless it was asked for.",
        table=Table(
            calls={"read": "allow", "edit": "allow", "network": "allow", "mcp": "allow"},
            commands={"read": "allow", "edit": "allow", "build": "allow", "run": "allow", "stop": "allow"},
            rights={"network": "allow", "outside": "allow"},
        ),
        child="yolo",
        colour="red",
        outside_name="bypassPermissions",
        by_key=False,
    ),
)
"""The strictest first."""

MODE_NAMES: "tuple[Mode, ...]" = tuple(each.name for each in MODES)
_BY_NAME = {each.name: each for each in MODES}


def mode_spec(mode: "Mode") -> ModeSpec:
    return _BY_NAME[mode]


def stricter_mode(one: "Mode", other: "Mode") -> "Mode":
    return one if MODE_NAMES.index(one) <= MODE_NAMES.index(other) else other


def next_mode_by_key(mode: "Mode") -> "Mode":
    """Never into yolo: a person says that in words."""
    names: list[Mode] = [each.name for each in MODES if each.by_key]
    return names[(names.index(mode) + 1) % len(names)] if mode in names else "default"
