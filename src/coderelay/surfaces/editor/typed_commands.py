"""Slash commands in an editor: those that it is told of. Any other text that begins with a slash is a prompt."""

from collections.abc import Callable

from coderelay.acp.updates import Fields
from coderelay.client.client import Client
from coderelay.client.language import localize
from coderelay.client.slash_commands import COMMANDS, SessionCommands
from coderelay.client.slash_line import ChangedFiles, PromptToSend, Slash, SwitchedSession, classify
from coderelay.client.visible import visible
from coderelay.protocol.asks import By
from coderelay.protocol.ids import PromptId, SessionId
from coderelay.protocol.queries import ListCommands


async def available_commands(client: Client, session: SessionId) -> list[Fields]:
    built_in = [
        _fields(each.name, localize(each.text), each.hint) for each in COMMANDS if each.remote and each.offered
    ]
    names = {each["name"] for each in built_in}
    found = (await client.get(ListCommands(session))).found
    return built_in + [_fields(each.name, each.description, each.hint) for each in found if each.name not in names]


async def typed_command(client: Client, session: SessionId, text: str) -> Slash | None:
    """The command that a text stands for, or None if it is a prompt."""
    slash = classify(text) if text.startswith("/") else None
    if not isinstance(slash, Slash):
        return None
    names = [each["name"] for each in await available_commands(client, session)]
    return slash if slash.name in names else None


async def run_command(
    client: Client, session: SessionId, by: By, slash: Slash, on_prompt: Callable[[PromptId], None]
) -> PromptToSend | str:
    """Run a command. The result is a prompt to send, or what the person is told."""
    result = await SessionCommands(client, session, by, _remember_nothing, on_prompt).run(slash)
    match result:
        case PromptToSend() | str():
            return result
        case ChangedFiles():
            return str(result)
        case SwitchedSession():
            return result.told
        case _:
            return ""


def _fields(name: str, text: str, hint: str) -> Fields:
    given = {"input": {"hint": visible(hint)}} if hint else {}
    return {"name": name, "description": visible(text), **given}


def _remember_nothing(cwd: str, model: str) -> str | None:
    """An editor does not write the configuration of the machine."""
