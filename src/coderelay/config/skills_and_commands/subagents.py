"""Subagents that have a name: Markdown files whose front matter has a `name` and a `description`, and whose text
tells the subagent what it is.

The `task` tool starts one by its name. `tools` are the only tools it gets, and never more than its parent has. A file
that is wrong raises no exception: the problem becomes a note for people, and the subagent is left out.
"""

import os
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from coderelay.config.skills_and_commands.custom_commands import command_texts
from coderelay.config.skills_and_commands.front_matter import FrontMatter, read_front_matter
from coderelay.config.skills_and_commands.trusted_text_files import FoundText, TextFolder, gather
from coderelay.protocol.errors import BadInput
from coderelay.protocol.query_results import TODO
from coderelay.protocol.text_escaping_and_width import escaped

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DESCRIPTION_CHARS = 1024
_ALL_TOOLS = "*"
_NO_TOOLS = (TODO,)  # never forbidden; an empty list would allow every tool
_INHERITED = ("inherit", "sonnet", "opus", "haiku")  # Claude's short names of models mean nothing to other providers


class Subagent(Struct, frozen=True):
    """Empty `tools` are all tools of the parent; an empty `model` is its model."""

    name: str
    description: str
    instructions: str
    file: str
    tools: tuple[str, ...] = ()
    model: str = ""
    own: bool = True


class Subagents(Struct, frozen=True):
    """`notes` tell people which subagents are left out, and why. `untrusted` are the names of those that the person
    does not trust."""

    found: tuple[Subagent, ...] = ()
    notes: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()


def find_subagents(places: Sequence[TextFolder], seen: Mapping[str, str]) -> Subagents:
    """`places` begin with the nearest. `seen` has the digests of the texts that the person trusts in the folder."""
    return Subagents(*gather("agents", places, seen, command_texts, _file_name, _subagent))


def _file_name(_: TextFolder, path: str) -> str:
    return os.path.basename(path).removesuffix(".md")


def _subagent(place: TextFolder, text: FoundText) -> Subagent:
    head = read_front_matter(text.decoded())
    model = head.text("model")
    return Subagent(
        name=_name(head, text),
        description=_description(head),
        instructions=head.body.strip(),
        file=text.path,
        tools=_tools(head),
        model="" if model in _INHERITED else escaped(model),
        own=place.folder is None,
    )


def _name(head: FrontMatter, text: FoundText) -> str:
    names = (head.text("name"), os.path.basename(text.path).removesuffix(".md"))
    name = next((each for each in names if _NAME.fullmatch(each)), None)
    if name is None:
        raise BadInput("its name may contain only letters, digits and . _ -, and at most 64 characters")
    return name


def _description(head: FrontMatter) -> str:
    """The description on one line, since it is shown in a list."""
    description = escaped(" ".join(head.text("description").replace("\\n", " ").split()))
    if not description:
        raise BadInput("it needs a description, which says what it is for and when to use it")
    cut = len(description) > _DESCRIPTION_CHARS
    return f"{description[: _DESCRIPTION_CHARS - 1]}…" if cut else description


def _tools(head: FrontMatter) -> tuple[str, ...]:
    """A tool with brackets, such as `Bash(git *)`, is ignored, because a subagent cannot be given a part of a
    tool."""
    if "tools" not in head.fields:
        return ()
    tools = head.texts("tools")
    return () if _ALL_TOOLS in tools else tools or _NO_TOOLS
