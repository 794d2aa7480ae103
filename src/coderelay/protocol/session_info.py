"""What a session has at hand, for people: tools, skills, commands, models, agents, turns to undo, how full the
model's window is, and where it runs."""

from typing import Literal

from msgspec import Struct

from coderelay.protocol.asks import Approval
from coderelay.protocol.calls import Kind
from coderelay.protocol.events import Mode, Preset
from coderelay.protocol.ids import TurnId

Origin = Literal["built-in", "agent", "command", "skill"]
Status = Literal["pending", "in_progress", "completed"]
Priority = Literal["high", "medium", "low"]
ChangeKind = Literal["added", "modified", "deleted", "renamed"]


class ToolShown(Struct, frozen=True, omit_defaults=True):
    """`off` says why it cannot be used, and is empty if it can."""

    name: str
    kind: Kind
    description: str
    off: str = ""


class SkillShown(Struct, frozen=True, omit_defaults=True):
    """`by_name_only`: for people to ask for, not for agents to choose. `own`: the person's, not the folder's."""

    name: str
    description: str
    file: str = ""
    own: bool = True
    by_name_only: bool = False


class SkillsShown(Struct, frozen=True, omit_defaults=True):
    """`notes` say what is not there, and why."""

    found: tuple[SkillShown, ...] = ()
    notes: tuple[str, ...] = ()


class CommandShown(Struct, frozen=True, omit_defaults=True):
    """Something to type after a `/`."""

    name: str
    origin: Origin
    description: str = ""
    hint: str = ""


class CommandsShown(Struct, frozen=True, omit_defaults=True):
    """Of two with one name, the first counts. `notes` say what is not there, and why."""

    found: tuple[CommandShown, ...] = ()
    notes: tuple[str, ...] = ()


class ContextShown(Struct, frozen=True, omit_defaults=True):
    """`parts` are tokens by what they are there for. `counted`: brought to what the provider counted last; else all
    is a guess. Without a `window` it is not known, or there is no model."""

    model: str
    window: int
    parts: tuple[tuple[str, int], ...]
    counted: bool = False


class ModelShown(Struct, frozen=True, omit_defaults=True):
    """A model that could be used here, and where that is known from. `window` in tokens, 0 if there is none; prices
    in US dollars for a million tokens, None if they are not known."""

    name: str
    source: str
    window: int = 0
    input_price: float | None = None
    output_price: float | None = None


class AgentShown(Struct, frozen=True, omit_defaults=True):
    """`problem` says why it cannot run this session, and is empty if it can."""

    name: str
    description: str
    problem: str = ""


class FileChange(Struct, frozen=True, omit_defaults=True):
    """`was` is the path before a renaming. `added` and `deleted` count lines. A change that is not `covered`
    cannot be undone, because the earlier content of the file was not kept."""

    path: str
    kind: ChangeKind
    added: int = 0
    deleted: int = 0
    binary: bool = False
    was: str = ""
    covered: bool = True


class TurnShown(Struct, frozen=True, omit_defaults=True):
    """A turn that an undo would undo, after those that came later. `at` is when it began, `changes` are the files
    that it changed, `problem` says why it cannot be undone."""

    turn_id: TurnId
    prompt: str
    at: int
    changes: tuple[FileChange, ...] = ()
    problem: str = ""


class FilesShown(Struct, frozen=True, omit_defaults=True):
    """Paths relative to the session's folder; those of folders end in a slash. Not `whole` if there are too many."""

    paths: tuple[str, ...] = ()
    whole: bool = True


class HostShown(Struct, frozen=True):
    """Where the log is, and who runs the session right now: `here` is this process."""

    log: str
    owner: Literal["nobody", "here", "another process"]


class PromptRow(Struct, frozen=True):
    """`arguments` in their order; those in `optional` may be left out."""

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


class ResourceRow(Struct, frozen=True):
    uri: str
    name: str = ""


class ServerRow(Struct, frozen=True):
    """`where` is its command or address, `note` what is wrong with it, as the end of a sentence."""

    name: str
    where: str
    state: Literal["running", "starting", "failed"]
    note: str = ""
    tools: tuple[str, ...] = ()
    prompts: tuple[PromptRow, ...] = ()
    resources: tuple[ResourceRow, ...] = ()


class PermissionsShown(Struct, frozen=True):
    """`matrix` is the table in force, `rules` the person's own as they are written, strictest first. `sandbox` is
    what commands run in; nothing is not known. `skills_run`: nobody is asked while a skill is in use."""

    mode: Mode
    preset: Preset
    matrix: tuple[tuple[str, Literal["allow", "sandboxed", "ask", "deny"]], ...]
    rules: tuple[tuple[Literal["deny", "ask", "allow"], str], ...] = ()
    approvals: tuple[Approval, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    sandbox: str = ""
    skills_run: bool = False


class Item(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    content: str
    status: Status
    priority: Priority = "medium"


class TodoArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Always the whole list."""

    items: tuple[Item, ...]


class FilesDiff(Struct, frozen=True):
    """`diff` is a unified diff as git writes it. It leaves out changes that are not covered, and may be cut off."""

    diff: str = ""
    changes: tuple[FileChange, ...] = ()
