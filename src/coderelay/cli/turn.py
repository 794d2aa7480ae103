"""From options to a session and a surface on it."""

import argparse
import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable

from coderelay.app import House
from coderelay.cli import house
from coderelay.cli.house import me
from coderelay.client.client import Client
from coderelay.client.model_names import GUIDE, agent_for, with_provider
from coderelay.config.chosen_model import remember_model
from coderelay.config.detect import detect
from coderelay.protocol.asks import By
from coderelay.protocol.commands import ConfigureSession, CreateSession, OpenSession
from coderelay.protocol.errors import BadInput, CannotRun, CoderError
from coderelay.protocol.ids import SessionId, new_id
from coderelay.protocol.queries import ListSessions, ShowSession, WhyNotRun
from coderelay.surfaces.headless.output import open_output
from coderelay.surfaces.headless.run import FAILED, INTERRUPTED, PARKED, Run


def run(options: argparse.Namespace, folder: str, prompt: str | None) -> int:
    gc.freeze()  # what was loaded stays; from here on there is garbage
    gc.enable()
    try:
        return asyncio.run(_run(options, folder, prompt, house.new_house(folder)))
    except CoderError as error:
        sys.stderr.write(f"coder: {error}\n")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


async def _run(options: argparse.Namespace, folder: str, prompt: str | None, house: House) -> int:
    host = house.open()
    try:
        by = me("terminal" if prompt is None else "headless")
        _tell_untrusted(house)
        session, after = await open_session(host, options, folder, house, by)
        if prompt is not None:
            return await _headless(host, options, house, session, after, prompt, by)
        from coderelay.surfaces.terminal.lines import LineLoop  # only the terminal needs it

        loop = LineLoop(host, session, by, lambda model: remember_model(folder, model))
        return await loop.run(after, house.config.settings.input_while_running)
    finally:
        await house.close(host)


async def open_session(
    client: Client, options: argparse.Namespace, folder: str, house: House, by: By
) -> tuple[SessionId, int]:
    """The session to work in, and where its log stands before anything is added."""
    allowed = tuple(filter(None, (options.allowed_tools or "").split(",")))
    known = await _known_session(client, options, folder)
    if known is None:
        found = await detect(house.config, os.environ, flag=options.model, settings=house.config.settings.providers)
        if options.prompt is None:
            sys.stdout.write(f"{found.line}\n")
        elif found.agent == "guide" and options.model is None:
            sys.stderr.write(f"coder: {found.line}\n")
        agent = options.agent or found.agent
        if agent == "native" and found.model == GUIDE:
            raise CannotRun(found.line)
        session = SessionId(new_id())
        if agent == "native" and (problem := house.models(folder).why_not(found.model)) is not None:
            raise CannotRun(problem)
        outcome = await client.send(
            CreateSession(
                session=session,
                cwd=folder,
                model=found.model,
                mode=options.mode or house.config.settings.mode,
                agent=agent,
                allowed_tools=allowed,
                by=by,
            )
        )
        return session, outcome.head
    current = (await client.get(ShowSession(known))).model
    model = with_provider(options.model, current) if options.model else None
    agent = options.agent or (agent_for(model) if model else None)
    wanted = WhyNotRun(known, model=model, agent=agent)
    if (problem := await client.get(wanted)) is not None:
        raise CannotRun(problem if model else f"session {known} cannot go on here: {problem}")
    outcome = await client.send(
        ConfigureSession(
            session=known,
            by=by,
            mode=options.mode,
            model=model,
            agent=agent,
            allowed_tools=allowed or None,
        )
    )
    await client.send(OpenSession(session=known, by=by))
    return known, outcome.head


def _tell_untrusted(house: House) -> None:
    if wanted := house.config.untrusted:
        sys.stderr.write(
            f"coder: .coder/config.json of this folder wants {', '.join(wanted)}, which is not in force; "
            "`coder permissions trust` shows it and puts it in force\n"
        )


async def _known_session(client: Client, options: argparse.Namespace, folder: str) -> SessionId | None:
    if options.resume:
        return (await client.get(ShowSession(SessionId(options.resume)))).id
    if options.latest:
        newest = await client.get(ListSessions(cwd=folder, limit=1))
        if not newest:
            raise BadInput(f"there is no session in {folder} to continue", "Start one without --continue.")
        return newest[0].id
    return None


async def _headless(
    client: Client, options: argparse.Namespace, house: House, session: SessionId, after: int, prompt: str, by: By
) -> int:
    cwd = (await client.get(ShowSession(session))).cwd  # not always the folder we are in
    unattended = options.unattended or house.settings(cwd).unattended or "deny"
    run = Run(client, session, open_output(options.output, session), unattended, by)
    main = asyncio.create_task(run.prompt(prompt, after, options.max_steps))
    stopping: list[asyncio.Task[None]] = []

    async def stop() -> None:
        if await run.stop():
            main.cancel()

    def interrupt() -> None:
        if stopping:
            main.cancel()  # a second Ctrl-C leaves at once; the turn is carried on by whoever opens it next
        else:
            stopping.append(asyncio.create_task(stop()))

    _on_signals(interrupt, main.cancel)
    try:
        code = await main
    except asyncio.CancelledError:
        return INTERRUPTED
    finally:
        await asyncio.gather(*stopping)
    if run.deaf:
        _keep_quiet()
        return INTERRUPTED
    if code == PARKED:
        sys.stderr.write(_parked(session, run.behind_others))
    for told in run.unanswered:
        sys.stderr.write(f"coder: {told}\n")
    return code


def _on_signals(interrupt: Callable[[], object], leave: Callable[[], object]) -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupt)
    loop.add_signal_handler(signal.SIGTERM, leave)
    loop.add_signal_handler(signal.SIGHUP, leave)


def _parked(session: SessionId, behind_others: bool) -> str:
    why = "an earlier question is still open; the prompt is queued" if behind_others else "a question is open"
    return f"coder: parked, {why}\nsession {session}\n"


def _keep_quiet() -> None:
    """Nobody reads stdout any more; keep Python from complaining about that at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
