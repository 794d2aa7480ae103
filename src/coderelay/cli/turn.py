"""From options to a session and a surface on it."""

import argparse
import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable
from functools import partial

from coderelay.app import House
from coderelay.cli import house
from coderelay.cli.house import me
from coderelay.cli.session import Chosen, choose_session, untrusted_words
from coderelay.client.client import Client
from coderelay.client.errors import error_in_words
from coderelay.client.language import retell, t
from coderelay.client.unattended import Unattended
from coderelay.config.chosen_model import remember_model
from coderelay.protocol.asks import By
from coderelay.protocol.errors import CoderError
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ShowSession
from coderelay.surfaces.headless.output import open_output
from coderelay.surfaces.headless.run import DONE, FAILED, INTERRUPTED, PARKED, Run


def run(options: argparse.Namespace, folder: str, prompt: str | None) -> int:
    gc.freeze()  # what was loaded stays; from here on there is garbage
    gc.enable()
    try:
        return asyncio.run(_run(options, folder, prompt, house.new_house(folder)))
    except CoderError as error:
        sys.stderr.write(f"coder: {error_in_words(error)}\n")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


async def _run(options: argparse.Namespace, folder: str, prompt: str | None, house: House) -> int:
    host = house.open()
    try:
        by = me("terminal" if prompt is None else "headless")
        if told := untrusted_words(house):
            sys.stderr.write(f"coder: {told}\n")
        chosen = await choose_session(host, options, folder, house, by)
        _tell_detected(chosen, options)
        if chosen.newest and prompt is None:
            sys.stdout.write(f"{chosen.newest}\n")
        if prompt is not None:
            return await _headless(host, options, house, chosen.session, chosen.after, prompt, by)
        from coderelay.surfaces.terminal.lines import LineLoop  # only the terminal needs it

        loop = LineLoop(host, chosen.session, by, remember_model, partial(_unattended, options, house))
        ending = await loop.run(chosen.after, house.config.settings.input_while_running)
        if ending == "parked":
            sys.stderr.write(_parked(loop.session, t("a question is open; the lines after it are not sent")))
        return {"left": DONE, "parked": PARKED, "stopped": INTERRUPTED}[ending]
    finally:
        await house.close(host)


def _tell_detected(chosen: Chosen, options: argparse.Namespace) -> None:
    found = chosen.detected
    if found is None:
        return
    if options.prompt is None:
        sys.stdout.write(f"{retell(found.line)}\n")
    elif found.agent == "guide" and options.model is None:
        sys.stderr.write(f"coder: {retell(found.line)}\n")


async def _headless(
    client: Client, options: argparse.Namespace, house: House, session: SessionId, after: int, prompt: str, by: By
) -> int:
    cwd = (await client.get(ShowSession(session))).cwd  # not always the folder we are in
    run = Run(client, session, open_output(options.output, session), _unattended(options, house, cwd), by)
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
        earlier = t("an earlier question is still open; the prompt is queued")
        sys.stderr.write(_parked(session, earlier if run.behind_others else t("a question is open")))
    for told in run.unanswered:
        sys.stderr.write(f"coder: {told}\n")
    return code


def _unattended(options: argparse.Namespace, house: House, cwd: str) -> Unattended:
    return options.unattended or house.settings(cwd).unattended or "deny"


def _on_signals(interrupt: Callable[[], object], leave: Callable[[], object]) -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupt)
    loop.add_signal_handler(signal.SIGTERM, leave)
    loop.add_signal_handler(signal.SIGHUP, leave)


def _parked(session: SessionId, why: str) -> str:
    return f"coder: {t('parked, {why}', why=why)}\n{t('session {session}', session=session)}\n"


def _keep_quiet() -> None:
    """Nobody reads stdout any more; keep Python from complaining about that at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
