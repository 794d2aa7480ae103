"""Query results for people: tools, skills, commands, models, agents, turns, files, MCP servers, permissions."""

from typing import Literal

from msgspec import Struct

from coderelay.protocol.asks import Approval
from coderelay.protocol.calls import Kind
from coderelay.protocol.ids import TurnId
from coderelay.protocol.session_setting_values import Mode, Preset, Profile

Origin = Literal["built-in", "agent", "command", "skill"]
Status = Literal["pending", "in_progress", "completed"]
Priority = Literal["high", "medium", "low"]
ChangeKind = Literal["added", "modified", "deleted", "renamed"]


class ToolShown(Struct, frozen=True, omit_defaults=True):
    """A tool. `off` says why it cannot be used, and is empty if it can."""

    name: str
    kind: Kind
    description: str
    off: str = ""


class SkillShown(Struct, frozen=True, omit_defaults=True):
    """A skill. With `by_name_only`, people can request it but agents cannot choose it. `own` means that it belongs to
    the person and not to the folder."""

    name: str
    description: str
    file: str = ""
    own: bool = True
    by_name_only: bool = False


class SkillsShown(Struct, frozen=True, omit_defaults=True):
    """The available skills. `notes` say which skills are not available, and why; `untrusted` are the names of those
    that the person does not trust yet."""

    found: tuple[SkillShown, ...] = ()
    notes: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()


class SubagentShown(Struct, frozen=True, omit_defaults=True):
    """A subagent that the agent can give tasks to by name. `own` means that it belongs to the person and not to the
    folder."""

    name: str
    description: str
    file: str = ""
    own: bool = True


class SubagentsShown(Struct, frozen=True, omit_defaults=True):
    """The available subagents. `notes` say which are not available, and why."""

    found: tuple[SubagentShown, ...] = ()
    notes: tuple[str, ...] = ()


class CommandShown(Struct, frozen=True, omit_defaults=True):
    """A slash command."""

    name: str
    origin: Origin
    description: str = ""
    hint: str = ""


class CommandsShown(Struct, frozen=True, omit_defaults=True):
    """The available slash commands. Of two with the same name, the first is used. `notes` say which are not
    available, and why; `untrusted` are the names of those that the person does not trust yet."""

    found: tuple[CommandShown, ...] = ()
    notes: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()


class SettingShown(Struct, frozen=True, omit_defaults=True):
    """A setting that holds: its value as JSON, with secrets hidden, and the files or the variable that set it; none
    for a default."""

    key: str
    value: str
    sources: tuple[str, ...] = ()


class UntrustedSetting(Struct, frozen=True):
    """A key that a folder's `file` sets, and its value as JSON, in full."""

    file: str
    key: str
    value: str


class UntrustedText(Struct, frozen=True):
    """A file of a folder that tells an agent what to do. `changed` means that the person trusted it as it was
    before."""

    path: str
    text: str
    changed: bool = False


class TrustShown(Struct, frozen=True):
    """What would be trusted in a folder and is not yet, in full. The `digest` stands for exactly this."""

    folder: str
    digest: str
    settings: tuple[UntrustedSetting, ...] = ()
    texts: tuple[UntrustedText, ...] = ()


class ContextShown(Struct, frozen=True, omit_defaults=True):
    """How full the model's context window is. `parts` are token counts by purpose. With `counted`, they are scaled to
    the provider's last count; otherwise they are estimates. `window` is 0 if it is not known or there is no model."""

    model: str
    window: int
    parts: tuple[tuple[str, int], ...]
    counted: bool = False


class ModelShown(Struct, frozen=True, omit_defaults=True):
    """A model that could be used here, and the source of that information. `window` is in tokens, 0 if there is none;
    prices are in US dollars per million tokens, None if they are not known."""

    name: str
    source: str
    window: int = 0
    input_price: float | None = None
    output_price: float | None = None


class ServedModels(Struct, frozen=True, omit_defaults=True):
    """The models that a server says it has. `problem` says why that is not known."""

    found: tuple[ModelShown, ...] = ()
    problem: str = ""


class AgentShown(Struct, frozen=True, omit_defaults=True):
    """An agent. `problem` says why it cannot run this session, and is empty if it can."""

    name: str
    description: str
    problem: str = ""


class FileChange(Struct, frozen=True, omit_defaults=True):
    """A change of one file. `was` is the path before a rename. `added` and `deleted` count lines. A change that is
    not `covered` cannot be undone, because the earlier content of the file was not kept."""

    path: str
    kind: ChangeKind
    added: int = 0
    deleted: int = 0
    binary: bool = False
    was: str = ""
    covered: bool = True

    @property
    def names(self) -> list[str]:
        """The paths that it is about."""
        return [self.was, self.path] if self.was else [self.path]


class TurnShown(Struct, frozen=True, omit_defaults=True):
    """A turn that can be undone after all later ones are undone. `at` is when it began, `changes` are the files that
    it changed, `problem` says why it cannot be undone."""

    turn_id: TurnId
    prompt: str
    at: int
    changes: tuple[FileChange, ...] = ()
    problem: str = ""


class FilesShown(Struct, frozen=True, omit_defaults=True):
    """Paths relative to the session's folder; paths of folders end in a slash. `whole` is false if there were too
    many to list."""

    paths: tuple[str, ...] = ()
    whole: bool = True


class FoldersShown(Struct, frozen=True, omit_defaults=True):
    """The names of the folders in the folder `path`. `parent` is where one level up leads, and is empty if that is
    not allowed. `whole` is false if there were too many to list."""

    path: str
    folders: tuple[str, ...] = ()
    parent: str = ""
    whole: bool = True


class FileShown(Struct, frozen=True, omit_defaults=True):
    """The text of a file of `size` bytes; empty for a `binary` file. `whole` is false if the end is missing. Secrets
    that are known to this process are masked."""

    path: str
    text: str = ""
    size: int = 0
    binary: bool = False
    whole: bool = True


class DefaultsShown(Struct, frozen=True):
    """What a new session gets. `source` says where the model comes from; it is empty if none was found, and then the
    agent is the guide."""

    agent: str
    model: str
    mode: Mode
    source: str = ""


class HostShown(Struct, frozen=True):
    """Where the log is, and which process runs the session now; `here` is this process, in which `calls` calls run.
    Those that only wait for a child session are not counted. `process` is the name of this process in claims."""

    log: str
    owner: Literal["nobody", "here", "another process"]
    calls: int = 0
    process: str = ""


class PromptRow(Struct, frozen=True):
    """A prompt of an MCP server. `arguments` are in order; those in `optional` may be omitted."""

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


class ResourceRow(Struct, frozen=True):
    uri: str
    name: str = ""


class ServerRow(Struct, frozen=True):
    """An MCP server. `where` is its command or address; `note` says what is wrong with it, as the end of a
    sentence. One that a client offers is started when a person has accepted it."""

    name: str
    where: str
    state: Literal["running", "starting", "failed", "offered", "refused"]
    note: str = ""
    tools: tuple[str, ...] = ()
    prompts: tuple[PromptRow, ...] = ()
    resources: tuple[ResourceRow, ...] = ()


class PermissionsShown(Struct, frozen=True):
    """The permissions in force. `matrix` is the table of the mode or preset; `rules` are the person's own as they
    wrote them, strictest first. `sandbox` is the sandbox of this machine, empty if it is not known; only if commands
    are `confined` do they run in it. With `skills_run`, nobody is asked while a skill is in use; with the `profile`
    cowork, nobody is ever asked about a tool, and no list of tools is enforced."""

    mode: Mode
    preset: Preset
    matrix: tuple[tuple[str, Literal["allow", "sandboxed", "ask", "deny"]], ...]
    rules: tuple[tuple[Literal["deny", "ask", "allow"], str], ...] = ()
    approvals: tuple[Approval, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    sandbox: str = ""
    confined: bool = True
    skills_run: bool = False
    profile: Profile = ""


class Item(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    content: str
    status: Status
    priority: Priority = "medium"


TODO = "todo"
"""The tool that sets the todo list. No list of allowed tools removes it, so a list that names it alone allows nothing
else."""


class TodoArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of the todo tool: always the whole list."""

    items: tuple[Item, ...]


class FilesDiff(Struct, frozen=True):
    """`diff` is a unified diff as git writes it. It omits changes that are not covered, and may be truncated."""

    diff: str = ""
    changes: tuple[FileChange, ...] = ()
