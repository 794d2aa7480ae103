"""Answers the lookups of web clients: a session's files, what each turn and task did, commands and agents."""

from functools import partial
from typing import assert_never

import msgspec

from coderelay.client.client import Client
from coderelay.client.i18n import localize
from coderelay.client.slash_commands import COMMANDS
from coderelay.protocol.errors import BadInput, UnknownSession
from coderelay.protocol.ids import CallId, SessionId, TurnId, child_id
from coderelay.protocol.queries import (
    ListAgents,
    ListCommands,
    ListFiles,
    ListTurns,
    ReadFile,
    ReadMessages,
    ShowDiff,
    ShowSession,
)
from coderelay.protocol.query_results import FileChange, TurnShown
from coderelay.surfaces.web.client_event_types import (
    AgentsRecheck,
    CommandsList,
    FilesList,
    FilesRead,
    TaskHistory,
    TurnDiff,
    TurnsList,
)
from coderelay.surfaces.web.outgoing_event_json import STATUSES, Payload, event_text, in_all_languages, retold

Lookup = FilesList | FilesRead | TaskHistory | TurnsList | TurnDiff | CommandsList | AgentsRecheck


async def look_up(client: Client, event: Lookup, cwd: str) -> str:
    """The answer to the client that asked. `cwd` is the folder that is meant if the client names none."""
    match event:
        case FilesList():
            session = SessionId(event.payload.session_id)
            files = await client.get(ListFiles(session))
            return event_text("files.list", {"sessionId": session, "paths": files.paths, "whole": files.whole})
        case FilesRead():
            session = SessionId(event.payload.session_id)
            file = await client.get(ReadFile(session, event.payload.path))
            fields = {"path": file.path, "text": file.text, "size": file.size, "binary": file.binary}
            return event_text("files.read", {"sessionId": session, **fields, "whole": file.whole})
        case TaskHistory():
            return await _task(client, SessionId(event.payload.session_id), CallId(event.payload.tool_use_id))
        case TurnsList():
            session = SessionId(event.payload.session_id)
            turns = await client.get(ListTurns(session, event.payload.limit))
            shown = [_turn(each) for each in turns]
            return event_text("turns.list", {"sessionId": session, "turns": shown, "limit": event.payload.limit})
        case TurnDiff():
            session, turn = SessionId(event.payload.session_id), TurnId(event.payload.turn_id)
            found = await client.get(ShowDiff(session, turn=turn))
            changes = [_change(each) for each in found.changes]
            return event_text(
                "turn.diff", {"sessionId": session, "turnId": turn, "diff": found.diff, "changes": changes}
            )
        case CommandsList():
            session = SessionId(event.payload.session_id)
            return event_text("commands.list", {"sessionId": session, "commands": await _commands(client, session)})
        case AgentsRecheck():
            agents = await client.get(ListAgents(cwd=event.payload.cwd or cwd))
            shown = [{"name": x.name, "description": x.description, "problem": x.problem} for x in agents]
            return event_text("agents", {"agents": shown})
        case _:
            assert_never(event)


async def _task(client: Client, session: SessionId, call: CallId) -> str:
    """What the child session that works on a task has done so far. Raises BadInput if the call has opened none."""
    await client.get(ShowSession(session))
    child = child_id(session, call)
    try:
        messages = await client.get(ReadMessages(child))
        status = STATUSES[(await client.get(ShowSession(child))).phase]
    except UnknownSession as error:
        raise BadInput("this call did not start a subagent") from error
    rows = [msgspec.Raw(row.data.encode()) for row in messages.rows]
    place = {"sessionId": session, "toolUseId": call, "childSessionId": child}
    return event_text("task.history", {**place, "status": status, "messages": rows})


async def _commands(client: Client, session: SessionId) -> list[Payload]:
    """The commands that may be used remotely, then those of the agent, the person and the folder."""
    built_in: list[Payload] = []
    for each in COMMANDS:
        if each.remote and each.offered:
            text, translated = in_all_languages(partial(localize, each.text))
            built_in.append({"name": each.name, "hint": each.hint, "text": text, **translated})
    names = {each["name"] for each in built_in}
    found = (await client.get(ListCommands(session))).found
    more = [{"name": x.name, "hint": x.hint, "text": x.description} for x in found if x.name not in names]
    return built_in + more


def _turn(turn: TurnShown) -> Payload:
    changes = [_change(each) for each in turn.changes]
    problem: Payload = {"problem": turn.problem, **retold(turn.problem)} if turn.problem else {}
    return {"turnId": turn.turn_id, "prompt": turn.prompt, "at": turn.at, "changes": changes, **problem}


def _change(change: FileChange) -> Payload:
    more: Payload = {"was": change.was} if change.was else {}
    more |= {"binary": True} if change.binary else {}
    more |= {} if change.covered else {"covered": False}
    return {"path": change.path, "kind": change.kind, "added": change.added, "deleted": change.deleted, **more}
