"""The built-in slash commands of a session, shared by all surfaces where people type.

To add a slash command, add its record to `COMMANDS` in the file of its group in `commands/`, and a line that shows
what it replies to the table in `tests/terminal/test_repl_commands.py`. CODER_UPDATE_SNAPSHOTS=1 writes
`docs/commands.md` and the picture of `/help` anew.
"""

import os
import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from coderelay.client.client import Capabilities, Client
from coderelay.client.commands import (
    compact_and_clear,
    config_and_add_dir,
    copy_and_export,
    diff_undo_rewind,
    help_command,
    init_and_review,
    models_and_think,
    modes_permissions_trust,
    output_and_vim,
    session_info,
    sessions,
    steer_and_queue,
    tasks_and_ps,
    tools_skills_agents_mcp,
)
from coderelay.client.commands.slash_command import GROUPS, Context, RememberModel, SlashCommand
from coderelay.client.i18n import speaking, t
from coderelay.client.slash_command_help_and_completion import unknown_command
from coderelay.client.slash_results import ChangedFiles, RewoundTurns, SlashResult, SwitchedSession
from coderelay.client.typed_line import PromptToSend, Slash, classify
from coderelay.protocol.asks import By
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import PromptId, SessionId
from coderelay.protocol.queries import ExpandCommand, ListCommands
from coderelay.protocol.text_escaping_and_width import visible

_AGENTS = "/"  # `//name` means the agent's command, even if another one has that name
_PATH = re.compile(r"(?:\\.|[^\s\\])+")  # with escapes, as a shell or drag and drop writes it

__all__ = ["COMMANDS", "NAMES", "REMOTE_NAMES", "RememberModel", "SessionCommands", "names_for"]

_FILES = (
    models_and_think,
    modes_permissions_trust,
    config_and_add_dir,
    steer_and_queue,
    compact_and_clear,
    sessions,
    copy_and_export,
    diff_undo_rewind,
    session_info,
    tools_skills_agents_mcp,
    tasks_and_ps,
    help_command,
    output_and_vim,
    init_and_review,
)
COMMANDS: tuple[SlashCommand, ...] = tuple(
    sorted((each for file in _FILES for each in file.COMMANDS), key=lambda each: GROUPS.index(each.group))
)
"""All built-in commands, in the order of `/help`."""

_BY_NAME = {each.name: each for each in COMMANDS}
NAMES = frozenset(_BY_NAME)
REMOTE_NAMES = frozenset(each.name for each in COMMANDS if each.remote)
"""The commands that a browser or a chat may offer; away from the terminal, the others are ordinary text."""
EDITOR_NAMES = REMOTE_NAMES | {each.name for each in COMMANDS if each.in_editors}


def names_for(capabilities: Capabilities) -> frozenset[str]:
    """The built-in commands that a client may run."""
    if capabilities.all_commands:
        return NAMES
    return EDITOR_NAMES if capabilities.editor_commands else REMOTE_NAMES


class SessionCommands:
    """Runs slash commands on a session. `on_prompt` gets the id of every prompt before a command sends it. `keys`
    describes the keys of this surface, for `/help`. After a Moved, commands act on the session moved to."""

    def __init__(
        self,
        client: Client,
        session: SessionId,
        by: By,
        remember_model: RememberModel,
        on_prompt: Callable[[PromptId], None],
        keys: str = "",
    ) -> None:
        self._here = Context(client, session, by, remember_model, on_prompt, keys, {}, COMMANDS, _BY_NAME["help"])

    async def run(self, slash: Slash) -> SlashResult:
        """Run one command. A name that is not built in is looked up among the agent's commands, custom commands and
        skills. Raises BadInput, or another refusal by the session."""
        with speaking(self._here.client.language):
            return await self._checked(slash)

    async def _checked(self, slash: Slash) -> SlashResult:
        told = await self._run(slash)
        if isinstance(told, PromptToSend) and not told.text.strip():
            raise BadInput(t("/{name} without arguments is an empty prompt; nothing was sent", name=slash.name))
        match told:
            case SwitchedSession():
                self._here.session = told.session
                return replace(told, told=visible(told.told))
            case RewoundTurns():
                return replace(told, told=visible(told.told))
            case ChangedFiles():
                return ChangedFiles(visible(told.text), visible(told.diff))
            case str():
                return visible(told)  # titles, prompts and files may have been written by anyone
            case _:
                return told

    async def _run(self, slash: Slash) -> SlashResult:
        command = _BY_NAME.get(slash.name)
        if command is None:
            return await resolve(self._here.client, self._here.session, COMMANDS, slash)
        if command.name not in names_for(self._here.client.capabilities):
            raise BadInput(t("/{name} works only in a terminal on this machine", name=slash.name))
        here = replace(self._here, command=command)
        rest = slash.rest.strip()
        if rest and not command.hint:
            raise BadInput(t("/{name} takes no arguments", name=slash.name), command.help)
        if not rest and command.needs_arguments:
            raise here.usage_error()
        return await command.run(here, rest)


async def resolve(client: Client, session: SessionId, built_in: Sequence[SlashCommand], slash: Slash) -> PromptToSend:
    """The prompt that the line stands for; one that begins with the path of a file is the prompt itself. Raises
    BadInput."""
    known = await client.get(ListCommands(session))
    forced = slash.name.startswith(_AGENTS)
    name = slash.name.removeprefix(_AGENTS)
    found = next((each for each in known.found if each.name == name and (each.origin == "agent" or not forced)), None)
    line = f"/{name} {slash.rest}".rstrip()
    if found is None and not forced and name in known.untrusted:
        raise BadInput(t("/{name} is not trusted yet", name=name), t("Review it with /trust."))
    if found is None and (forced or not _begins_with_path(line)):
        raise unknown_command(slash.name, built_in, known, forced)
    if found is None or found.origin == "agent":
        return PromptToSend(line)
    return PromptToSend(await client.get(ExpandCommand(session, name, slash.rest)))


def _begins_with_path(line: str) -> bool:
    """Whether the line begins with an existing path other than `/`."""
    path = _PATH.match(line)
    return path is not None and path[0].strip("/") != "" and os.path.exists(re.sub(r"\\(.)", r"\1", path[0]))


async def remote_command(client: Client, session: SessionId, text: str) -> Slash | None:
    """The command that a text stands for, or None if it is a prompt."""
    slash = classify(text) if text.startswith("/") else None
    if not isinstance(slash, Slash):
        return None
    if slash.name in names_for(client.capabilities):
        return slash
    known = await client.get(ListCommands(session))
    return slash if any(each.name == slash.name for each in known.found) else None


async def run_remote_command(
    client: Client, session: SessionId, by: By, slash: Slash, on_prompt: Callable[[PromptId], None] = lambda _: None
) -> SlashResult:
    """Like SessionCommands.run. Nothing is written into the configuration of the machine."""
    return await SessionCommands(client, session, by, lambda cwd, model: None, on_prompt).run(slash)
