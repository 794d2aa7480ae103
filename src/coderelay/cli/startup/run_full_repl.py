"""Opens the session that the options mean and runs the REPL on it, while the first prompt is already shown."""

import argparse
import asyncio
import os
from contextlib import suppress

from coderelay.app import App
from coderelay.cli.startup.choose_session import ChosenSession, choose_session
from coderelay.cli.startup.current_person import current_person
from coderelay.cli.startup.open_app import new_app, restored_files_message
from coderelay.cli.startup.untrusted_notice import untrusted_everything
from coderelay.client.client import AT_THE_MACHINE, Client
from coderelay.client.i18n import error_in_words, retell
from coderelay.config.edit_config import remember_model
from coderelay.host.host import Host
from coderelay.protocol.asks import By
from coderelay.protocol.errors import CoderError, StoreFull
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ListServers
from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.terminal.drawing.prompt_and_note_lines import note
from coderelay.surfaces.terminal.live_region_view import LiveRegionView
from coderelay.surfaces.terminal.opened_session import OpenedSession
from coderelay.surfaces.terminal.prompt_while_opening import PromptWhileOpening
from coderelay.surfaces.terminal.repl import Repl

_ROOM_SECONDS = 1.0


async def work(options: argparse.Namespace, folder: str, opening: PromptWhileOpening) -> int:
    """Run until the person leaves. Returns the exit code."""
    try:
        return await _show(options, folder, opening, new_app(folder))
    except CoderError as error:
        opening.screen.print(visible(f"coder: {error_in_words(error)}"))
        return 1


async def _show(options: argparse.Namespace, folder: str, opening: PromptWhileOpening, app: App) -> int:
    screen = opening.screen
    app.tell = lambda text: screen.print(note(retell(text), screen.width))
    host = await app.open_patiently()
    try:
        by = current_person("terminal")
        chosen = await _choose_when_there_is_room(host, options, folder, app, by)
        opened = OpenedSession(
            client=host.connect(AT_THE_MACHINE),
            session=chosen.session,
            by=by,
            remember_model=remember_model,
            told=_startup_messages(chosen, app, folder),
            is_known=chosen.detected is None,
            while_running=app.config.settings.input_while_running,
            history=os.path.join(app.config.home, "history"),
            max_steps=options.max_steps,
            output_lines=app.config.settings.display.output_lines,
            vi_keys=app.config.settings.editor.vim,
        )
        starting = asyncio.create_task(_start_servers(opened.client, chosen.session))
        try:
            return await opening.hand_over(Repl(opening.screen, LiveRegionView(folder), opened))
        finally:
            starting.cancel()
    finally:
        await app.close(host)


async def _start_servers(client: Client, session: SessionId) -> None:
    """Start the MCP servers while the person types. Problems are shown when a turn needs a server."""
    with suppress(CoderError):
        await client.get(ListServers(session))


async def _choose_when_there_is_room(
    host: Host, options: argparse.Namespace, folder: str, app: App, by: By
) -> ChosenSession:
    """Choose the session; retry while the disk is full, so that the prompt and what was typed meanwhile stay."""
    is_told = False
    while True:
        try:
            return await choose_session(host, options, folder, app, by, to_run=False)
        except StoreFull as error:
            if not is_told:
                app.tell(str(error))
                is_told = True
        await asyncio.sleep(_ROOM_SECONDS)


def _startup_messages(chosen: ChosenSession, app: App, folder: str) -> tuple[str, ...]:
    found = chosen.detected
    why = retell(found.line) if found is not None else ""
    untrusted = untrusted_everything(app, folder)
    words = (why, chosen.newest, retell(chosen.problem or ""), untrusted, restored_files_message(app))
    return tuple(filter(None, words))
