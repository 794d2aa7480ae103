"""Open the session that the options mean and run a surface on it: headless (`-p`), or a plain line loop."""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from coderelay.app import App
from coderelay.cli.startup.choose_session import ChosenSession, choose_session
from coderelay.cli.startup.current_person import current_person
from coderelay.cli.startup.event_loop_and_ctrl_c import is_ignored, run_loop
from coderelay.cli.startup.open_app import new_app, restored_files_message
from coderelay.cli.startup.untrusted_notice import untrusted_everything, untrusted_settings
from coderelay.client.client import AT_THE_MACHINE, Client
from coderelay.client.i18n import error_in_words, retell, t
from coderelay.client.unattended_answers_and_exit import Unattended
from coderelay.protocol.asks import By
from coderelay.protocol.errors import CoderError
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import AskRow
from coderelay.protocol.queries import ShowSession
from coderelay.surfaces import nonblocking_standard_streams
from coderelay.surfaces.headless.exit_codes import DENIED, DONE, FAILED, INTERRUPTED, PARKED, RunState
from coderelay.surfaces.headless.run_prompt import PromptRun, PromptStatus, open_output

log = logging.getLogger(__name__)


def run_without_terminal(options: argparse.Namespace, folder: str, prompt: str | None) -> int:
    nonblocking_standard_streams.write_behind()
    try:
        return run_loop(_run(options, folder, prompt, new_app(folder)))
    except CoderError as error:
        sys.stderr.write(f"coder: {error_in_words(error)}\n")
        return FAILED
    except KeyboardInterrupt:
        nonblocking_standard_streams.stop_waiting_for_readers()
        return INTERRUPTED


async def _run(options: argparse.Namespace, folder: str, prompt: str | None, app: App) -> int:
    host = await app.open_patiently()
    try:
        by = current_person("terminal" if prompt is None else "headless")
        untrusted = untrusted_everything(app, folder) if prompt is None else untrusted_settings(app)
        for told in filter(None, (untrusted, restored_files_message(app))):
            sys.stderr.write(f"coder: {told}\n")
        await host.check()
        chosen = await choose_session(host, options, folder, app, by)
        _tell_detected(chosen, options)
        if chosen.newest and prompt is None:
            sys.stdout.write(f"{chosen.newest}\n")
        if prompt is not None:
            return await _headless(host, options, app, chosen.session, chosen.after, prompt, by)
        from coderelay.config.edit_config import remember_model  # neither is needed with `-p`
        from coderelay.surfaces.terminal.plain_repl import PlainRepl

        client = host.connect(AT_THE_MACHINE)
        loop = PlainRepl(client, chosen.session, by, remember_model, partial(_unattended, options, app))
        ending = await loop.run(chosen.after, app.config.settings.input_while_running, options.first_prompt)
        if ending == "parked":
            sys.stderr.write(
                _parked(loop.session, t("a question or permission request is open; the lines after it were not sent"))
            )
        return {"left": DONE, "parked": PARKED, "stopped": INTERRUPTED}[ending]
    finally:
        await app.close(host)


def _tell_detected(chosen: ChosenSession, options: argparse.Namespace) -> None:
    found = chosen.detected
    if found is None:
        return
    if options.prompt is None:
        sys.stdout.write(f"{retell(found.line)}\n")
    elif found.agent == "guide" and options.model is None:
        sys.stderr.write(f"coder: {retell(found.line)}\n")


async def _headless(
    client: Client, options: argparse.Namespace, app: App, session: SessionId, after: int, prompt: str, by: By
) -> int:
    cwd = (await client.get(ShowSession(session))).cwd  # a resumed session may work in another folder
    state = RunState()
    output = open_output(options.output, session, state, partial(_init_fields, app), verbose=options.verbose)
    run = PromptRun(client, session, state, output, _unattended(options, app, cwd), by)
    text = f"{prompt}\n\n{options.piped}" if options.piped.strip() else prompt
    typed = prompt if text != prompt else ""
    main = asyncio.create_task(run.prompt(text, after, options.max_steps, typed))
    stopping: list[asyncio.Task[None]] = []

    async def stop() -> None:
        if await run.stop():
            main.cancel()

    def interrupt() -> None:
        nonblocking_standard_streams.stop_waiting_for_readers()
        if main.done():
            return  # the app is being closed: there is nothing left to stop
        if stopping or run.is_over:
            for each in stopping:
                each.cancel()  # the stop itself may be waiting for a locked log
            main.cancel()  # a second Ctrl-C leaves at once; the process that opens the session next goes on
        else:
            stopping.append(asyncio.create_task(stop()))

    def leave() -> None:
        nonblocking_standard_streams.stop_waiting_for_readers()
        main.cancel()

    _on_signals(interrupt, leave)
    try:
        code = await main
    except asyncio.CancelledError:
        code = INTERRUPTED
    except CoderError as error:
        return await _tell_failure(run, session, error_in_words(error))
    except Exception as error:
        log.exception("a prompt failed")
        return await _tell_failure(run, session, f"{type(error).__name__}: {error}")
    finally:
        await asyncio.gather(*stopping, return_exceptions=True)
    if run.output_closed:
        return INTERRUPTED
    with suppress(BrokenPipeError):  # `finish` turns it into an exit code
        await _tell_ending(run, session, code)
    return code


async def _tell_ending(run: PromptRun, session: SessionId, code: int) -> None:
    """Write to stderr how a run ended that was not simply done, and what the person can do."""
    lines = list(run.unanswered)
    if code == PARKED:
        earlier = t("an earlier question is still open; the prompt is queued")
        asks = await run.open_asks()
        why = earlier if run.behind_others else t("a question or permission request is open")
        sys.stderr.write(_parked(session, why, asks))
    elif code == INTERRUPTED:
        run.end_early()
        lines.append(t("interrupted. Resume with: coder resume {session}", session=session))
    elif code == DENIED and not lines:
        lines.append(
            t(
                "Denied because nobody could answer. Allow it with --mode or --unattended allow, or "
                "answer later with --unattended park."
            )
        )
    for told in lines:
        sys.stderr.write(f"coder: {told}\n")


async def _tell_failure(run: PromptRun, session: SessionId, problem: str) -> int:
    """Report the failure and what has become of the prompt: a person who does not know that would send it again."""
    status = _prompt_status_text(await run.give_up(), session)
    with suppress(BrokenPipeError):  # `finish` turns it into an exit code
        run.end_early(problem)
    sys.stderr.write("\n".join(filter(None, (f"coder: {problem}", status))) + "\n")
    return FAILED


def _prompt_status_text(status: PromptStatus, session: SessionId) -> str:
    match status:
        case "not admitted":
            return ""
        case "taken back":
            return t("The prompt was withdrawn before anything was done. You can send it again.")
        case "waiting":
            return t(
                "The prompt is queued in session {session} and has not started. Run it with `coder resume "
                "{session}`. `coder sessions delete {session}` deletes the whole session.",
                session=session,
            )
        case "begun":
            return t(
                "The turn had started and may have changed files; session {session} records what is known. "
                "Continue it with `coder resume {session}`; sending the prompt again could repeat what it did.",
                session=session,
            )
        case "unknown":
            return t(
                "It is not known whether the prompt was saved; check with `coder sessions show {session}`.",
                session=session,
            )


def _unattended(options: argparse.Namespace, app: App, cwd: str) -> Unattended:
    return options.unattended or app.folders.of(cwd).settings.unattended or "deny"


def _on_signals(interrupt: Callable[[], object], leave: Callable[[], object]) -> None:
    loop = asyncio.get_running_loop()
    for number, react in ((signal.SIGINT, interrupt), (signal.SIGTERM, leave), (signal.SIGHUP, leave)):
        if not is_ignored(number):
            loop.add_signal_handler(number, react)


def _parked(session: SessionId, why: str, asks: Sequence[AskRow] = ()) -> str:
    from coderelay.client.ask_view import headline  # few runs are parked

    lines = [f"coder: {t('paused: {why}', why=why)}", *(f"  {each.ask.id}  {headline(each.ask)}" for each in asks)]
    if asks:
        lines.append(t("Answer with: coder answer {ask} allow|deny|stop|TEXT", ask=asks[0].ask.id))
    lines.append(t("session {session}", session=session))
    return "\n".join(lines) + "\n"


def _init_fields(app: App, model: str, cwd: str) -> dict[str, Any]:
    """What the init message of `stream-json` says of this process: where the key comes from, and which MCP servers
    are configured."""
    servers = app.folders.of(cwd).settings.mcp_servers
    return {"apiKeySource": app.providers(cwd).key_source(model), "mcp_servers": list(servers)}
