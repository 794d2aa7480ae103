"""The results of slash commands, as web clients are told them."""

from coderelay.client.slash_results import ChangedFiles, RewoundTurns, SlashResult, SwitchedSession
from coderelay.client.typed_line import PromptToSend
from coderelay.surfaces.web.outgoing_server_events import Payload


def command_output(result: SlashResult) -> PromptToSend | Payload:
    """A prompt to send, or what the person is told."""
    match result:
        case PromptToSend():
            return result
        case ChangedFiles():
            return {"text": result.text, "diff": result.diff}
        case SwitchedSession():
            return {"text": result.told, "switchedTo": result.session}
        case RewoundTurns():
            return {"text": result.told}
        case str():
            return {"text": result}
        case _:
            return {"text": ""}
