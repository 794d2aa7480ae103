"""All configuration keys, with their defaults and ranges. `docs/configuration.md` explains them."""

import re
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from coderelay.models.providers import ProviderSettings
from coderelay.protocol.modes import mode_spec
from coderelay.protocol.session_setting_values import Mode, Persistence, Preset
from coderelay.protocol.translatable import say
from coderelay.protocol.translation_files import LANGUAGES

if TYPE_CHECKING:
    Language = str
else:
    Language = Literal[LANGUAGES]
Unattended = Literal["park", "deny", "allow"]

Text = Annotated[str, Meta(min_length=1)]
Texts = tuple[Text, ...]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
AtLeastOne = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Positive = Annotated[float, Meta(gt=0)]
Port = Annotated[int, Meta(ge=1, le=65535)]
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z", description="a name of letters, digits, . _ -")]
Variable = Annotated[
    str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\Z", description="the name of an environment variable")
]
Address = Annotated[str, Meta(pattern=r"^\w+://[^/@\s]+(/\S*)?\Z", description="an address without a login in it")]


class ApprovalConfig(Struct, frozen=True, forbid_unknown_fields=True):
    interactive: bool = True
    unattended: Unattended | None = None


class PermissionsConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """A `deny` rule wins over an `ask` rule, and an `ask` rule over an `allow` rule."""

    preset: Preset = "balanced"
    allow: Texts = ()
    ask: Texts = ()
    deny: Texts = ()


class SandboxConfig(Struct, frozen=True, forbid_unknown_fields=True):
    enabled: bool = True
    network: bool = False
    yolo: bool = False

    def confines(self, mode: Mode) -> bool:
        """Whether commands of a session in this mode run in the sandbox."""
        return self.enabled and (self.yolo or not mode_spec(mode).unchecked)


class WorkflowConfig(Struct, frozen=True, forbid_unknown_fields=True):
    require_todo_for_complex: bool = True
    auto_verify_after_edit: bool = True
    max_verify_attempts: Count = 2
    verify_commands: Texts = ()


class CompactionConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """`threshold` is the share of the context window that may fill up before the history is compacted; `keep` is how
    many of the last messages stay whole."""

    threshold: Annotated[float, Meta(gt=0, le=1)] = 0.8
    keep: Count = 12


class DisplayConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """`output_lines` is how many lines of a tool's output the terminal shows; 0 shows all."""

    output_lines: Count = 0


class ToolsConfig(Struct, frozen=True, forbid_unknown_fields=True):
    disabled: Texts = ()


class SkillsConfig(Struct, frozen=True, forbid_unknown_fields=True):
    auto_approve: Literal["load", "run"] = "load"


class EditorConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """The input line of the terminal. `vim` switches its vi keys on."""

    vim: bool = False


class BatchConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """When an agent with a loop of its own is told an answer: once no ask is open, or each by itself. The native
    agent always waits for all."""

    release: Literal["together", "each"] = "together"


class BashConfig(Struct, frozen=True, forbid_unknown_fields=True):
    timeout_s: Positive = 120
    output_bytes: AtLeastOne = 1024 * 1024
    free_bytes: AtLeastOne = 1_000_000_000


class BudgetConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """Limits in US dollars; None means no limit."""

    session: Positive | None = None
    day: Positive | None = None


class WebConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """`roots` are the folders that a page may browse; without any, the person's home."""

    profile: Literal["cowork"] | None = None
    port: Port | None = None
    roots: Texts = ()


class AcpConfig(Struct, frozen=True, forbid_unknown_fields=True):
    max_mode: Mode = "default"


class FeishuConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """`domain` is `feishu`, `lark` or an address. `tenant` is the only tenant whose events are accepted; if it is not
    set, it is the tenant of the first event. `lang` is the language of the cards, whatever that of this machine is.
    Questions wait `input_timeout_s` seconds. `web_url` is where people reach `coder web`, for links."""

    app_id: Text | None = None
    app_secret_env: Variable = "FEISHU_APP_SECRET"
    encrypt_key_env: Variable = "FEISHU_ENCRYPT_KEY"
    verification_token_env: Variable = "FEISHU_VERIFICATION_TOKEN"
    domain: Text = "feishu"
    tenant: Text | None = None
    cwd: Text | None = None
    roots: Texts = ()
    users: Texts = ()
    chats: Texts = ()
    approvers: Texts = ()
    groups: Literal["own", "shared"] = "own"
    input_timeout_s: Positive = 300
    lang: Language = "zh"
    card_schema: Literal["2.0", "1.0"] = "2.0"
    web_url: Address | None = None


class AgentConfig(Struct, frozen=True, forbid_unknown_fields=True):
    command: Texts = ()
    url: Address | None = None
    env: dict[Variable, str] = {}
    mode: Mode | None = None
    tools: ToolsConfig = ToolsConfig()

    def __repr__(self) -> str:
        return f"AgentSettings({' '.join(self.command) or self.url}, env={[*self.env]})"


class McpServerConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """A program that is started (`command`), or one that listens at `url`."""

    literal: ClassVar[bool] = False

    command: Text | None = None
    args: tuple[str, ...] = ()
    env: dict[Variable, str] = {}
    url: Address | None = None
    headers: dict[Text, str] = {}

    def __post_init__(self) -> None:
        if (self.command is None) == (self.url is None):
            raise ValueError("needs either `command` or `url`")

    def __repr__(self) -> str:
        return f"McpServer({self.command or self.url}, env={[*self.env]}, headers={[*self.headers]})"


HookEvent = Literal["PreToolUse", "PostToolUse", "Stop", "SubagentStop", "SetUpEnvironment"]


class HookCommand(Struct, frozen=True, forbid_unknown_fields=True):
    """`timeout` is in seconds. If a `required` hook fails, what it was asked about does not happen. `variables` are
    the environment variables that it may set for commands."""

    command: Text
    type: Literal["command"] = "command"
    timeout: Annotated[float, Meta(gt=0, le=3600)] = 60
    required: bool = False
    variables: tuple[Variable, ...] = ()


class HookGroup(Struct, frozen=True, forbid_unknown_fields=True):
    """`matcher` is a regular expression for the names of tools; without one, the hooks are for all tools."""

    hooks: tuple[HookCommand, ...]
    matcher: str = ""

    def __post_init__(self) -> None:
        try:
            re.compile("" if self.matcher == "*" else self.matcher)
        except re.error as error:
            raise ValueError(say("has a `matcher` that is no regular expression: {why}", why=error)) from error


TO_COME = ("agents",)
"""Keys of parts that this version does not have. They are checked like others and then refused, because a setting
that does nothing deceives the person who wrote it. Of `agents`, only `agents.native.tools.disabled` works."""


def is_to_come(path: tuple[str, ...]) -> bool:
    """Whether this version does nothing with a key."""
    return path[0] in TO_COME and path != ("agents", "native", "tools", "disabled")


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    model: Text | None = None
    mode: Mode = "default"
    lang: Language | None = None
    max_steps: AtLeastOne = 128
    auto_approve_ask: bool = False
    approval: ApprovalConfig = ApprovalConfig()
    permissions: PermissionsConfig = PermissionsConfig()
    sandbox: SandboxConfig = SandboxConfig()
    workflow: WorkflowConfig = WorkflowConfig()
    compaction: CompactionConfig = CompactionConfig()
    tools: ToolsConfig = ToolsConfig()
    skills: SkillsConfig = SkillsConfig()
    display: DisplayConfig = DisplayConfig()
    input_while_running: Literal["queue", "steer", "stop", "ignore"] = "queue"
    persist_partials: Persistence = "until_final"
    editor: EditorConfig = EditorConfig()
    batch: BatchConfig = BatchConfig()
    bash: BashConfig = BashConfig()
    budget: BudgetConfig = BudgetConfig()
    web: WebConfig = WebConfig()
    acp: AcpConfig = AcpConfig()
    feishu: FeishuConfig = FeishuConfig()
    providers: dict[Name, ProviderSettings] = {}
    agents: dict[Name, AgentConfig] = {}
    mcp_servers: dict[Name, McpServerConfig] = {}
    hooks: dict[HookEvent, tuple[Text | HookGroup, ...]] = {}

    @property
    def unattended(self) -> Unattended | None:
        """What happens to an ask that nobody can answer; None leaves it to the surface. `approval.unattended` wins
        over `auto_approve_ask` and `approval.interactive`, which say the same in another way."""
        if self.approval.unattended is not None:
            return self.approval.unattended
        return "allow" if self.auto_approve_ask or not self.approval.interactive else None
