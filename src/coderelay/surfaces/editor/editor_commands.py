"""Slash commands in an editor: those that it is told of, and what the person is told when one has run."""

from collections.abc import Callable

from coderelay.acp.update_payloads import Fields
from coderelay.client.client import Client
from coderelay.client.i18n import localize
from coderelay.client.remote_slash_commands import run_remote_command
from coderelay.client.slash_commands import COMMANDS, names_for
from coderelay.client.slash_results import ChangedFiles, RewoundTurns, SwitchedSession
from coderelay.client.typed_line import PromptToSend, Slash
from coderelay.protocol.asks import By
from coderelay.protocol.ids import PromptId, SessionId
from coderelay.protocol.queries import ListCommands
from coderelay.protocol.visible_text import visible


async def available_commands(client: Client, session: SessionId) -> list[Fields]:
    usable = [each for each in COMMANDS if each.offered and each.name in names_for(client.capabilities)]
    built_in = [_fields(each.name, localize(each.text), each.hint) for each in usable]
    names = {each["name"] for each in built_in}
    found = (await client.get(ListCommands(session))).found
    return built_in + [_fields(each.name, each.description, each.hint) for each in found if each.name not in names]


async def run_command(
    client: Client, session: SessionId, by: By, slash: Slash, on_prompt: Callable[[PromptId], None]
) -> PromptToSend | str:
    """Run a command. The result is a prompt to send, or what the person is told."""
    result = await run_remote_command(client, session, by, slash, on_prompt)
    match result:
        case PromptToSend() | str():
            return result
        case ChangedFiles():
            return str(result)
        case SwitchedSession() | RewoundTurns():
            return result.told
        case _:
            return ""


def _fields(name: str, text: str, hint: str) -> Fields:
    given = {"input": {"hint": visible(hint)}} if hint else {}
    return {"name": name, "description": visible(text), **given}
