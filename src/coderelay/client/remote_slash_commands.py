"""Slash commands for people who are not at this machine, in a browser or an editor. Commands are those that may be
used there, custom commands and skills; any other text that begins with a slash is a prompt."""

from collections.abc import Callable

from coderelay.client.client import Client
from coderelay.client.slash_commands import SessionCommands, names_for
from coderelay.client.slash_results import SlashResult
from coderelay.client.typed_line import Slash, classify
from coderelay.protocol.asks import By
from coderelay.protocol.ids import PromptId, SessionId
from coderelay.protocol.queries import ListCommands


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
