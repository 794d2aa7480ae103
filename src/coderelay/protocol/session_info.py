"""What a session has at hand, for people: tools, skills, commands, models, agents, turns to undo, how full the
model's window is, and where it runs."""

from typing import Literal

from msgspec import Struct

from coderelay.protocol.calls import Kind
from coderelay.protocol.file_changes import FileChange
from coderelay.protocol.ids import TurnId

Origin = Literal["built-in", "agent", "command", "skill"]


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
