"""The pickers that slash commands open: models, sessions, and turns to rewind to."""

import os
import time

from coderelay.client.client import Client
from coderelay.client.commands.diff_undo_rewind import changed_line
from coderelay.client.commands.models_and_think import everything_offered
from coderelay.client.commands.slash_command import SESSIONS
from coderelay.client.find_session import folder_name, is_known
from coderelay.client.i18n import localize, retell, t
from coderelay.client.typed_line import Slash
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListSessions, ListTurns, ShowSession
from coderelay.protocol.query_results import ModelShown, TurnShown
from coderelay.surfaces.terminal.picker import Picker, PickerChoice


async def picker_for(client: Client, session: SessionId, slash: Slash) -> Picker | None:
    """The picker that a slash command opens, or None if it opens none or there is nothing to pick."""
    match slash:
        case Slash("model", ""):
            choices, problem = await _models(client, session)
            heading = " ".join(filter(None, (t("Models"), problem)))
        case Slash("resume", ""):
            cwd = (await client.get(ShowSession(session))).cwd
            rows = await _sessions(client, session, ListSessions(cwd=cwd))
            heading, choices = t("Sessions here"), [_session_choice(each, with_folder=False) for each in rows]
        case Slash("sessions", text):
            rows = await _sessions(client, session, ListSessions(text=text))
            heading, choices = localize(SESSIONS), [_session_choice(each, with_folder=True) for each in rows]
        case Slash("rewind", ""):
            heading, choices = t("Rewind to before this prompt"), await _turns(client, session)
        case _:
            return None
    return Picker(heading, choices) if choices else None


async def _models(client: Client, session: SessionId) -> tuple[list[PickerChoice], str]:
    """The models, and why some may be missing. The one in use comes first, so that Enter alone changes nothing."""
    (current, *others), problem = await everything_offered(client, session)
    marked = " · ".join(filter(None, (t("in use"), _of_model(current))))
    choices = [PickerChoice(f"/model {each.name}", each.name, _of_model(each)) for each in others]
    return [PickerChoice(f"/model {current.name}", current.name, marked), *choices], problem


def _of_model(model: ModelShown) -> str:
    facts = [t("{tokens} tokens", tokens=f"{model.window:,}")] if model.window else []
    if model.input_price is not None and model.output_price is not None:
        facts.append(t("${input} in, ${output} out per million", input=model.input_price, output=model.output_price))
    return " · ".join(filter(None, (*facts, model.source)))


async def _sessions(client: Client, session: SessionId, query: ListSessions) -> list[Summary]:
    return [each for each in await client.get(query) if each.id != session and is_known(each)]


def _session_choice(row: Summary, *, with_folder: bool) -> PickerChoice:
    when = time.strftime("%m-%d %H:%M", time.localtime(row.updated_at / 1000))
    folder = folder_name(row, os.path.expanduser("~")) if with_folder else ""
    facts = " · ".join(filter(None, (when, t(row.phase), folder, row.id)))
    return PickerChoice(f"/resume {row.id}", _name(row), facts)


def _name(row: Summary) -> str:
    return row.title or row.last_prompt or row.id


async def _turns(client: Client, session: SessionId) -> list[PickerChoice]:
    turns = await client.get(ListTurns(session))
    return [PickerChoice(f"/rewind {number}", each.prompt, _of_turn(each)) for number, each in enumerate(turns, 1)]


def _of_turn(turn: TurnShown) -> str:
    return retell(turn.problem) or ", ".join(map(changed_line, turn.changes)) or t("no files changed")
