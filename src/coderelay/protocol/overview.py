"""What a session has at hand, for people: tools, skills, commands, and how full the model's window is."""

from typing import Literal

from msgspec import Struct

from coderelay.protocol.calls import Kind

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
