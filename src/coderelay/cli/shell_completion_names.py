"""Names for shell completion (sessions, asks, models, servers …), each with a description; none if that fails."""

import os

from coderelay.cli.startup.current_person import current_person
from coderelay.cli.startup.event_loop_and_ctrl_c import run_loop
from coderelay.cli.startup.open_app import new_app, run_with_app
from coderelay.cli.startup.real_folder_path import real_folder
from coderelay.client.ask_view import headline
from coderelay.client.permission_ask_text import approval_in_words
from coderelay.config.loaded_config import load
from coderelay.host.host import Host
from coderelay.models.local.downloadable_weights import offers
from coderelay.models.local.installed_weights_registry import WeightsFolder, models_folder
from coderelay.protocol.errors import CoderError
from coderelay.protocol.queries import ListApprovals, ListAsks, ListSessions

NamesWithText = list[tuple[str, str]]
_MOST = 100


def completion_names(kind: str) -> NamesWithText:
    try:
        return _names_of(kind)
    except CoderError:  # other commands report the error
        return []


def _names_of(kind: str) -> NamesWithText:
    match kind:
        case "MODEL":
            return _models()
        case "SERVER":
            return [(name, "") for name in load(os.environ).settings.mcp_servers]
        case "OFFER":
            return [(each.name, each.about) for each in offers(models_folder(os.environ)).values()]
        case "LOCAL":
            return [(name, "") for name in WeightsFolder(models_folder(os.environ)).all()]
        case _:
            return _in_the_log(kind)


def _models() -> NamesWithText:
    folder = real_folder()
    shown = run_loop(new_app(folder).machine().offered_models(folder))
    return [(each.name, each.source) for each in shown]


def _in_the_log(kind: str) -> NamesWithText:
    found: NamesWithText = []

    async def look(host: Host) -> int:
        match kind:
            case "SESSION":
                found.extend((each.id, _line(each.title)) for each in await host.get(ListSessions(limit=_MOST)))
            case "ASK":
                found.extend((each.ask.id, headline(each.ask)) for each in await host.get(ListAsks()))
            case _:
                approvals = await host.get(ListApprovals(None, current_person().who))
                found.extend((each.id, approval_in_words(each)) for each in approvals)
        return 0

    run_with_app(look)
    return found


def _line(text: str) -> str:
    return " ".join(text.split())
