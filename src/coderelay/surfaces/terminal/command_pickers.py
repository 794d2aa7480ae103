"""Commands that are typed without saying what: the person picks it from a list."""

import time

from coderelay.client.changed_files import changed_line
from coderelay.client.client import Client
from coderelay.client.commands.command import SESSIONS
from coderelay.client.commands.models import offered
from coderelay.client.language import localize, retell, t
from coderelay.client.session_names import is_known
from coderelay.client.slash_line import Slash
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ListSessions, ListTurns, ShowSession
from coderelay.protocol.session_info import ModelShown, TurnShown
from coderelay.protocol.summary import Summary
from coderelay.surfaces.terminal.picker import Choice, Picker


async def picker_for(client: Client, session: SessionId, slash: Slash) -> Picker | None:
    """None if there is nothing to pick."""
    match slash:
        case Slash("model", ""):
            heading, choices = t("Models"), await _models(client, session)
        case Slash("resume", ""):
            cwd = (await client.get(ShowSession(session))).cwd
            heading, choices = t("Sessions here"), await _sessions(client, session, ListSessions(cwd=cwd))
        case Slash("sessions", text):
            heading, choices = localize(SESSIONS), await _sessions(client, session, ListSessions(text=text))
        case Slash("rewind", ""):
            heading, choices = t("Go back before"), await _turns(client, session)
        case _:
            return None
    return Picker(heading, choices) if choices else None


async def _models(client: Client, session: SessionId) -> list[Choice]:
    """The one in use is the first, so Enter alone changes nothing."""
    current, *others = await offered(client, session)
    marked = " · ".join(filter(None, (t("in use"), _of_model(current))))
    choices = [Choice(f"/model {each.name}", each.name, _of_model(each)) for each in others]
    return [Choice(f"/model {current.name}", current.name, marked), *choices]


def _of_model(model: ModelShown) -> str:
    facts = [t("{tokens} tokens", tokens=f"{model.window:,}")] if model.window else []
    if model.input_price is not None and model.output_price is not None:
        facts.append(t("${input} in, ${output} out per million", input=model.input_price, output=model.output_price))
    return " · ".join(filter(None, (*facts, model.source)))


async def _sessions(client: Client, session: SessionId, query: ListSessions) -> list[Choice]:
    rows = [each for each in await client.get(query) if each.id != session and is_known(each)]
    return [Choice(f"/resume {each.id}", _name(each), _of_session(each)) for each in rows]


def _of_session(row: Summary) -> str:
    when = time.strftime("%m-%d %H:%M", time.localtime(row.updated_at / 1000))
    return f"{when} · {t(row.phase)} · {row.cwd} · {row.id}"


def _name(row: Summary) -> str:
    return row.title or row.last_prompt or row.id


async def _turns(client: Client, session: SessionId) -> list[Choice]:
    turns = await client.get(ListTurns(session))
    return [Choice(f"/rewind {number}", each.prompt, _of_turn(each)) for number, each in enumerate(turns, 1)]


def _of_turn(turn: TurnShown) -> str:
    return retell(turn.problem) or ", ".join(map(changed_line, turn.changes)) or t("no files changed")
