"""Slash commands that a person types into a web client. Only those that may be used away from the machine are
commands; any other text that begins with a slash is a prompt."""

from coderelay.client.client import Client
from coderelay.client.slash_commands import REMOTE_NAMES, SessionCommands
from coderelay.client.slash_line import ChangedFiles, PromptToSend, Slash, SwitchedSession, classify
from coderelay.protocol.asks import By
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ListCommands
from coderelay.surfaces.web.server_events import Payload


async def typed_command(client: Client, session: SessionId, text: str) -> Slash | None:
    """The command that a text stands for, or None if it is a prompt."""
    if not text.startswith("/"):
        return None
    slash = classify(text)
    if not isinstance(slash, Slash):
        return None
    if slash.name in REMOTE_NAMES:
        return slash
    known = await client.get(ListCommands(session))
    return slash if any(each.name == slash.name for each in known.found) else None


async def run_command(client: Client, session: SessionId, by: By, slash: Slash) -> PromptToSend | Payload:
    """Run a command. The result is a prompt to send, or what the person is told."""
    commands = SessionCommands(client, session, by, _remember_nothing, lambda _: None)
    result = await commands.run(slash)
    match result:
        case PromptToSend():
            return result
        case ChangedFiles():
            return {"text": result.text, "diff": result.diff}
        case SwitchedSession():
            return {"text": result.told, "switchedTo": result.session}
        case str():
            return {"text": result}
        case _:
            return {"text": ""}


def _remember_nothing(cwd: str, model: str) -> str | None:
    """A person in a browser does not write the configuration of the machine."""
