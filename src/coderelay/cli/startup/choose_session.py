"""Choose the session that the command-line options mean: a new one, or an existing one."""

import argparse
import os

from msgspec import Struct

from coderelay.app import App
from coderelay.cli.startup.localized_argument_parser import PICK
from coderelay.cli.startup.real_folder_path import real_folder
from coderelay.client.client import Client
from coderelay.client.find_session import find_session, is_known
from coderelay.client.i18n import retell, t
from coderelay.client.typed_model_name import GUIDE, agent_for, with_provider
from coderelay.config.detect.model_detection import DetectedModel, detect
from coderelay.models.catalog import full_name
from coderelay.protocol.asks import By
from coderelay.protocol.commands import ConfigureSession, CreateSession, MoveSession, OpenSession
from coderelay.protocol.errors import BadInput, CannotRun
from coderelay.protocol.ids import SessionId, new_id
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListSessions, WhyNotRun
from coderelay.protocol.text_escaping_and_width import visible


class ChosenSession(Struct, frozen=True):
    """`after` is where the session's log stood before this run adds anything. `detected` says why a new session has
    its model, `problem` why this process cannot run an existing one. `newest` tells the person which session was
    chosen if they did not name one."""

    session: SessionId
    after: int
    detected: DetectedModel | None = None
    problem: str | None = None
    newest: str = ""


async def choose_session(
    client: Client, options: argparse.Namespace, folder: str, app: App, by: By, *, to_run: bool = True
) -> ChosenSession:
    """Raises CannotRun if the session cannot run here, unless it already exists and is only to be followed (`to_run`
    is False)."""
    allowed = tuple(filter(None, (options.allowed_tools or "").split(",")))
    known = await _known_session(client, options, folder)
    if known is None:
        return await _new_session(client, options, folder, app, by, allowed)
    if options.here:
        await client.send(MoveSession(session=known.id, by=by))
    model = with_provider(options.model, known.model) if options.model else None
    agent = options.agent or (agent_for(model, known.agent) if model else None)
    problem = await client.get(WhyNotRun(known.id, model=model, agent=agent))
    if problem is not None and model:
        raise CannotRun(problem)
    if problem is not None:
        problem = t("session {session} cannot continue here: {problem}", session=known.id, problem=retell(problem))
        if to_run:
            raise CannotRun(problem)
    outcome = await client.send(
        ConfigureSession(
            session=known.id,
            by=by,
            mode=options.mode,
            model=model,
            agent=agent,
            allowed_tools=allowed or None,
            folders=_more_folders(options, known.cwd, known.folders) or None,
            instructions=options.append_system_prompt,
        )
    )
    await client.send(OpenSession(session=known.id, by=by))
    return ChosenSession(known.id, outcome.head, problem=problem, newest=_in_words(known) if options.latest else "")


def _more_folders(options: argparse.Namespace, cwd: str, known: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The folders besides `cwd`: those the session knows already, and those of `--add-dir`."""
    added = (real_folder(os.path.expanduser(each)) for each in options.add_dir or ())
    return tuple(each for each in dict.fromkeys((*known, *added)) if each != cwd)


async def _new_session(
    client: Client, options: argparse.Namespace, folder: str, app: App, by: By, allowed: tuple[str, ...]
) -> ChosenSession:
    found = await detect(
        app.config,
        os.environ,
        flag=options.model and full_name(options.model),
        settings=app.config.settings.providers,
    )
    agent = options.agent or found.agent
    if agent == "native" and found.model == GUIDE:
        raise CannotRun(found.line)
    if agent == "native" and (problem := app.models(folder).why_not(found.model)) is not None:
        raise CannotRun(problem)
    session = SessionId(new_id())
    outcome = await client.send(
        CreateSession(
            session=session,
            cwd=folder,
            model=found.model,
            mode=options.mode or app.config.settings.mode,
            agent=agent,
            allowed_tools=allowed,
            folders=_more_folders(options, folder),
            instructions=options.append_system_prompt or "",
            by=by,
        )
    )
    return ChosenSession(session, outcome.head, detected=found)


async def _known_session(client: Client, options: argparse.Namespace, folder: str) -> Summary | None:
    if options.resume not in (None, PICK):
        return await find_session(client, options.resume, t("`coder sessions` lists all sessions."))
    if options.latest:
        newest = await client.get(ListSessions(cwd=folder, here=True))
        if not newest:
            raise BadInput(t("no session to continue in {folder}", folder=folder), t("Start one with `coder`."))
        return next(filter(is_known, newest), newest[0])  # prefers a session that was used
    return None


def _in_words(row: Summary) -> str:
    title = visible(row.title or row.last_prompt.strip().partition("\n")[0])
    return t("continuing {session}  {title}", session=row.id, title=title).rstrip()
